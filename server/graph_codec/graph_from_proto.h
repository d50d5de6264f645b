#ifndef TENSORD_SERVER_GRAPH_CODEC_GRAPH_FROM_PROTO_H_
#define TENSORD_SERVER_GRAPH_CODEC_GRAPH_FROM_PROTO_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/graph/graph_def.h"
#include "engine/graph/host_tensor.h"
#include "engine/graph/limits.h"

namespace tensord {

// The tensor of a handle: what an initializer by `tensor_id` stands for.
using TensorById =
    absl::FunctionRef<absl::StatusOr<HostTensor>(absl::string_view tensor_id)>;

// For a server without resident tensors: kUnimplemented that says so.
absl::StatusOr<HostTensor> NoTensorById(absl::string_view tensor_id);

// A serialized tensord.v1.Graph as a definition that BuildGraph() takes. The
// bytes are counted before they are parsed (see ScanWire), so that a small
// message cannot take much memory or stack.
//
// Threading: pure but for `tensor_by_id`. Ownership: copies what it needs; the
//   bytes may go afterwards.
// Errors: kInvalidArgument for bytes that are no graph, with the offset, and
// for
//   a graph that contradicts itself; kResourceExhausted for a limit;
//   kUnimplemented, with the name, for strings, sequences, optionals, and lists
//   of tensors or graphs as attributes.
absl::StatusOr<GraphDef> GraphFromProto(absl::string_view bytes,
                                        const GraphLimits& limits,
                                        TensorById tensor_by_id = NoTensorById);

}  // namespace tensord

#endif  // TENSORD_SERVER_GRAPH_CODEC_GRAPH_FROM_PROTO_H_
