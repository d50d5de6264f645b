// ConstantOfShape: a tensor of the shape that the input says, filled with one
// value.

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"
#include "engine/ops/shape_input.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  FillParams params;
  TENSORD_ASSIGN_OR_RETURN(const HostTensor value, node.Tensor("value"));
  if (!value.is_present()) return params;
  if (value.shape().element_count() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'value' has shape ", value.shape().ToString(),
                     ", not one element"));
  }
  if (value.size_bytes() > sizeof(params.bits)) {
    return absl::UnimplementedError(
        absl::StrCat("attribute 'value' has dtype ", DTypeName(value.dtype())));
  }
  params.dtype = value.dtype();
  std::memcpy(&params.bits, value.bytes().data(), value.size_bytes());
  return params;
}

absl::Status Infer(InferContext& context) {
  TENSORD_ASSIGN_OR_RETURN(SymbolicShape shape, ShapeInput(context, 0));
  context.SetOutput(0, context.params<FillParams>().dtype, std::move(shape));
  return absl::OkStatus();
}

}  // namespace

OpDef ConstantOfShapeDef() {
  return {.op = OpKind::kConstantOfShape,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
