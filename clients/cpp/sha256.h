#ifndef TENSORD_CLIENTS_CPP_SHA256_H_
#define TENSORD_CLIENTS_CPP_SHA256_H_

#include <openssl/evp.h>

#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace tensord {

// SHA-256 over bytes that come in parts.
// Threading: confined to one thread.
class Sha256Hasher {
 public:
  Sha256Hasher() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }

  void Add(absl::string_view bytes) {
    EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
  }

  // The hash's 32 bytes; nothing may be added after it.
  std::string Finish() {
    std::string hash(32, '\0');
    EVP_DigestFinal_ex(context_.get(),
                       reinterpret_cast<unsigned char*>(hash.data()), nullptr);
    return hash;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

inline std::string Sha256(absl::string_view bytes) {
  Sha256Hasher hasher;
  hasher.Add(bytes);
  return hasher.Finish();
}

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_SHA256_H_
