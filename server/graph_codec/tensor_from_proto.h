#ifndef TENSORD_SERVER_GRAPH_CODEC_TENSOR_FROM_PROTO_H_
#define TENSORD_SERVER_GRAPH_CODEC_TENSOR_FROM_PROTO_H_

#include "absl/status/statusor.h"
#include "engine/graph/host_tensor.h"
#include "tensord/v1/types.pb.h"

namespace tensord {

// A constant of a graph as a tensor. The data must be exactly as many bytes as
// dtype and dims give.
//
// Threading: one thread. Ownership: copies the data, and frees the proto's.
// Errors: kInvalidArgument with the numbers; kUnimplemented for strings.
absl::StatusOr<HostTensor> TensorFromProto(v1::Tensor& proto);

}  // namespace tensord

#endif  // TENSORD_SERVER_GRAPH_CODEC_TENSOR_FROM_PROTO_H_
