// DynamicQuantizeLinear: x of float32 as uint8, with the scale and the zero
// point that its own range gives. Outputs y of x's shape, scale [], zero point
// [].

#include "engine/graph/status_macros.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32}));
  context.SetOutput(0, DType::kUInt8, context.shape(0));
  if (context.output_count() > 1) context.SetOutput(1, DType::kFloat32, {});
  if (context.output_count() > 2) context.SetOutput(2, DType::kUInt8, {});
  return absl::OkStatus();
}

}  // namespace

OpDef DynamicQuantizeLinearDef() {
  return {.op = OpKind::kDynamicQuantizeLinear,
          .min_inputs = 1,
          .max_inputs = 1,
          .max_outputs = 3,
          .infer = &Infer};
}

}  // namespace tensord
