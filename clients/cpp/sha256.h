#ifndef TENSORD_CLIENTS_CPP_SHA256_H_
#define TENSORD_CLIENTS_CPP_SHA256_H_

#include <openssl/sha.h>

#include <string>

#include "absl/strings/string_view.h"

namespace tensord {

// The hash's 32 bytes.
inline std::string Sha256(absl::string_view bytes) {
  std::string hash(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(hash.data()));
  return hash;
}

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_SHA256_H_
