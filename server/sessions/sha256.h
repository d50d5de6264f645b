#ifndef TENSORD_SERVER_SESSIONS_SHA256_H_
#define TENSORD_SERVER_SESSIONS_SHA256_H_

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"

struct evp_md_ctx_st;

namespace tensord {

using Sha256Digest = std::array<uint8_t, 32>;

// SHA-256 of bytes that come in pieces.
// Threading: one thread. Ownership: owns its state.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Add(absl::string_view bytes);
  // Once.
  Sha256Digest Finish();

 private:
  evp_md_ctx_st* const context_;
};

Sha256Digest Sha256Of(absl::string_view bytes);

// The digest's bytes, where they lie.
absl::string_view BytesOf(const Sha256Digest& digest);

}  // namespace tensord

#endif  // TENSORD_SERVER_SESSIONS_SHA256_H_
