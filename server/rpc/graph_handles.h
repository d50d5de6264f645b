#ifndef TENSORD_SERVER_RPC_GRAPH_HANDLES_H_
#define TENSORD_SERVER_RPC_GRAPH_HANDLES_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/graph/host_tensor.h"
#include "server/rpc/service_environment.h"

namespace tensord {

// The initializers of a serialized tensord.v1.Graph that are given by handle.
// Ownership: shares the tensors, which stay when their handles go.
struct GraphHandles {
  using Tensors = absl::flat_hash_map<std::string, TensorTable::Pointer>;
  Tensors tensors;  // by handle
  // TensorInfo.content_sha256 of each, in the order of the graph's id.
  std::vector<std::string> hashes;
};

// The constant that a graph gets for a handle: a copy, since the graph stays
// when the session and its part of the memory go. kNotFound.
absl::StatusOr<HostTensor> CopyOfHandle(const GraphHandles::Tensors& tensors,
                                        absl::string_view tensor_id);

// Walks the bytes without parsing what is large. Bytes that are no graph have
// no handles: whoever decodes them says what is wrong.
// Threading: thread-safe. A tensor whose hash is not known is hashed here.
// Errors: CheckResourceId's and TensorTable::Find's.
absl::StatusOr<GraphHandles> FindGraphHandles(
    absl::string_view graph, absl::string_view principal,
    const ServiceEnvironment& environment);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_GRAPH_HANDLES_H_
