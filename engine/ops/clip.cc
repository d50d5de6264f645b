// Clip: y = min(max(x, low), high). Inputs: x, optional low, optional high,
// each one element. Up to operator set 10 the bounds are attributes, float32
// whatever x is: they become inputs 3 and 4, which no client can give.

#include <cstring>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/element_map.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::Status MoveToInput(NodeReader& node, absl::string_view name, int index) {
  if (!node.Has(name)) return absl::OkStatus();
  TENSORD_ASSIGN_OR_RETURN(const float bound, node.Float(name, 0.0f));
  return node.SetConstantInput(
      index, HostTensor::Make(DType::kFloat32, {}, [bound](auto bytes) {
        std::memcpy(bytes.data(), &bound, sizeof(bound));
      }));
}

absl::StatusOr<OpParams> Read(NodeReader& node) {
  IgnoreConsumedInputs(node);
  if (node.opset() > 10) return NoParams{};
  if (node.input_count() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        node.input_count(), " inputs; up to operator set 10 there is 1"));
  }
  TENSORD_RETURN_IF_ERROR(MoveToInput(node, "min", 3));
  TENSORD_RETURN_IF_ERROR(MoveToInput(node, "max", 4));
  return NoParams{};
}

absl::Status Infer(InferContext& context) {
  const bool has_attributes = context.has_input(3) || context.has_input(4);
  TENSORD_RETURN_IF_ERROR(has_attributes
                              ? context.CheckDType(0, kFloatDTypes)
                              : context.CheckDType(0, kNumericDTypes));
  for (int i : {1, 2}) {
    if (!context.has_input(i)) continue;
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, i));
    TENSORD_RETURN_IF_ERROR(context.CheckOneElement(i));
  }
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

}  // namespace

OpDef ClipDef() {
  return {.op = OpKind::kClip,
          .min_inputs = 1,
          .max_inputs = 3,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
