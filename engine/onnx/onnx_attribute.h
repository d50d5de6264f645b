#ifndef TENSORD_ENGINE_ONNX_ONNX_ATTRIBUTE_H_
#define TENSORD_ENGINE_ONNX_ONNX_ATTRIBUTE_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "engine/graph/attributes.h"

namespace tensord {

namespace onnx {
class AttributeProto;
class GraphProto;
}  // namespace onnx

// One attribute's value. Graphs are read by `read_graph`.
// Threading: one thread. Ownership: takes the proto apart, so that its bytes
// are not in memory twice. Errors: kInvalidArgument for a type that its fields
// contradict;
//   kUnimplemented for lists of tensors and graphs, sparse tensors and types.
absl::StatusOr<Attribute> ReadOnnxAttribute(
    onnx::AttributeProto& proto,
    absl::FunctionRef<absl::StatusOr<GraphDef>(onnx::GraphProto&)> read_graph);

}  // namespace tensord

#endif  // TENSORD_ENGINE_ONNX_ONNX_ATTRIBUTE_H_
