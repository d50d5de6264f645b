#ifndef TENSORD_ENGINE_ONNX_ONNX_TENSOR_H_
#define TENSORD_ENGINE_ONNX_ONNX_TENSOR_H_

#include "absl/status/statusor.h"
#include "engine/graph/host_tensor.h"

namespace tensord {

namespace onnx {
class TensorProto;
}

// The tensor that a TensorProto holds, whichever of its fields has the
// elements. The number of bytes or elements must be exactly what dtype and dims
// give.
//
// Threading: one thread. Ownership: copies the bytes and frees the proto's, so
//   that a model's weights are not in memory three times.
// Errors: kInvalidArgument with the numbers, also for external data (a path is
//   not the client's to name); kUnimplemented for strings and segments.
absl::StatusOr<HostTensor> ReadOnnxTensor(onnx::TensorProto& proto);

}  // namespace tensord

#endif  // TENSORD_ENGINE_ONNX_ONNX_TENSOR_H_
