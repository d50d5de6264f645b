#ifndef TENSORD_SERVER_RPC_GRAPH_ID_H_
#define TENSORD_SERVER_RPC_GRAPH_ID_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "tensord/v1/graph_service.pb.h"

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

// The id of a graph without tensors by handle, as graph_service.proto defines
// it: 64 lower-case hexadecimal digits.
std::string GraphIdOf(v1::GraphFormat format, const Sha256Digest& digest,
                      const v1::CompileOptions& options);

// 64 lower-case hexadecimal digits.
bool IsGraphId(absl::string_view text);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_GRAPH_ID_H_
