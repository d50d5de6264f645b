#ifndef TENSORD_TOOLS_TENSORDCTL_ONNX_TENSOR_H_
#define TENSORD_TOOLS_TENSORDCTL_ONNX_TENSOR_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tensord/v1/types.pb.h"

namespace tensord::ctl {

// The tensor in a serialized onnx.TensorProto, whose elements may be in
// raw_data or in the field of their type. kInvalidArgument for bytes that are
// no TensorProto, for a number of elements that is not its dims', and for
// tensors whose elements are in another file or in segments.
absl::StatusOr<v1::Tensor> ReadOnnxTensor(absl::string_view bytes);

// A serialized onnx.TensorProto for the tensor, with raw_data.
std::string WriteOnnxTensor(const v1::Tensor& tensor, absl::string_view name);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_ONNX_TENSOR_H_
