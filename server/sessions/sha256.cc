#include "server/sessions/sha256.h"

#include <openssl/evp.h>

namespace tensord {

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  EVP_DigestInit_ex(context_, EVP_sha256(), nullptr);
}

Sha256::~Sha256() { EVP_MD_CTX_free(context_); }

void Sha256::Add(absl::string_view bytes) {
  EVP_DigestUpdate(context_, bytes.data(), bytes.size());
}

Sha256Digest Sha256::Finish() {
  Sha256Digest digest;
  EVP_DigestFinal_ex(context_, digest.data(), nullptr);
  return digest;
}

Sha256Digest Sha256Of(absl::string_view bytes) {
  Sha256 sha;
  sha.Add(bytes);
  return sha.Finish();
}

absl::string_view BytesOf(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace tensord
