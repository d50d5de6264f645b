#include "engine/ops/shape_input.h"

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"

namespace tensord {

absl::StatusOr<SymbolicShape> ShapeInput(const InferContext& context, int i) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(i, kInt64Only));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(i, 1, 1));
  const Dim rank = context.shape(i)[0];
  if (rank.is_known() && rank.extent() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", i, " is a shape of rank ", rank.extent(),
                     ", above the limit of ", kMaxRank));
  }
  if (context.constant(i) == nullptr) return context.NeedsValue(i);
  SymbolicShape shape;
  for (int64_t extent : ConstantIntegers(context, i)) {
    if (extent < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("element ", shape.size(), " of the shape in input ", i,
                       " is ", extent, ", below 0"));
    }
    shape.push_back(Dim::Known(extent));
  }
  return shape;
}

}  // namespace tensord
