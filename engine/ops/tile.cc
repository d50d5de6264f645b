// Tile: the input repeated along each dimension as often as input 1 says.

#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kInt64Only));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(1, 1, 1));
  TENSORD_RETURN_IF_ERROR(
      context.CheckSameDim("number of repeats and rank:", context.shape(1)[0],
                           Dim::Known(context.rank(0))));
  SymbolicShape y = context.shape(0);
  if (context.constant(1) == nullptr) return context.NeedsValue(1);
  const std::vector<int64_t> repeats = ConstantIntegers(context, 1);
  for (size_t d = 0; d < y.size(); ++d) {
    if (repeats[d] < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", d, " is repeated ", repeats[d], " times"));
    }
    y[d] = context.symbols().Multiply(y[d], Dim::Known(repeats[d]));
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef TileDef() {
  return {
      .op = OpKind::kTile, .min_inputs = 2, .max_inputs = 2, .infer = &Infer};
}

}  // namespace tensord
