// PRelu: y = x where x >= 0, slope * x else. The slope (input 1) broadcasts to
// x's shape.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr DType kDTypes[] = {DType::kFloat32,  DType::kFloat64, DType::kFloat16,
                             DType::kBFloat16, DType::kInt32,   DType::kInt64,
                             DType::kUInt32,   DType::kUInt64};

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 1));
  const SymbolicShape& x = context.shape(0);
  const SymbolicShape& slope = context.shape(1);
  TENSORD_ASSIGN_OR_RETURN(const SymbolicShape y,
                           BroadcastShapes(context, x, slope));
  bool fits = y.size() == x.size();
  for (size_t d = 0; fits && d < x.size(); ++d) {
    fits = y[d] == x[d] || !x[d].is_known() || !y[d].is_known();
  }
  if (!fits) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the slope's shape ", context.symbols().ToString(slope),
        " does not broadcast to the input's, ", context.symbols().ToString(x)));
  }
  context.SetOutput(0, context.dtype(0), x);
  return absl::OkStatus();
}

}  // namespace

OpDef PReluDef() {
  return {
      .op = OpKind::kPRelu, .min_inputs = 2, .max_inputs = 2, .infer = &Infer};
}

}  // namespace tensord
