#ifndef TENSORD_SERVER_RPC_GRAPH_ID_H_
#define TENSORD_SERVER_RPC_GRAPH_ID_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/sessions/sha256.h"
#include "tensord/v1/graph_service.pb.h"

namespace tensord {

// The id of a graph, as graph_service.proto defines it: 64 lower-case
// hexadecimal digits. `handle_hashes`: of its initializers by handle.
std::string GraphIdOf(v1::GraphFormat format, const Sha256Digest& digest,
                      const v1::CompileOptions& options,
                      absl::Span<const std::string> handle_hashes = {});

// 64 lower-case hexadecimal digits.
bool IsGraphId(absl::string_view text);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_GRAPH_ID_H_
