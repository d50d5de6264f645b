#ifndef TENSORD_ENGINE_ONNX_ONNX_ATTRIBUTE_H_
#define TENSORD_ENGINE_ONNX_ONNX_ATTRIBUTE_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "engine/graph/attributes.h"
#include "engine/graph/graph_def.h"
#include "onnx/onnx.pb.h"

namespace tensord {

// Who reads what an attribute may hold.
struct OnnxAttributeParts {
  absl::FunctionRef<absl::StatusOr<HostTensor>(onnx::TensorProto&)> tensor;
  absl::FunctionRef<absl::StatusOr<GraphDef>(onnx::GraphProto&)> graph;
};

// One attribute's value; not for a reference to a function's.
//
// Threading: one thread. Ownership: hands tensors and graphs to `parts`, which
//   may take them apart, so that their bytes are not in memory twice.
// Errors: kInvalidArgument for a type that its fields contradict;
//   kUnimplemented for lists of tensors and graphs, sparse tensors and types.
absl::StatusOr<Attribute> ReadOnnxAttribute(onnx::AttributeProto& proto,
                                            const OnnxAttributeParts& parts);

// kInvalidArgument if a reference says another type than its argument has.
absl::Status CheckReferenceType(const onnx::AttributeProto& reference,
                                const Attribute& argument);

}  // namespace tensord

#endif  // TENSORD_ENGINE_ONNX_ONNX_ATTRIBUTE_H_
