#include "engine/ops/binary_rules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/broadcast.h"

namespace tensord {
namespace {

constexpr int64_t kLastOpsetWithAxis = 6;
constexpr int64_t kLastOpsetWithConsumedInputs = 5;

}  // namespace

absl::StatusOr<OpParams> ReadBinary(NodeReader& node) {
  if (node.opset() > kLastOpsetWithAxis) return NoParams{};
  if (node.opset() <= kLastOpsetWithConsumedInputs) {
    node.Ignore("consumed_inputs");
  }
  TENSORD_ASSIGN_OR_RETURN(const bool broadcasts,
                           node.Bool("broadcast", false));
  TENSORD_ASSIGN_OR_RETURN(const int64_t axis, node.Int("axis", 0));
  if (!broadcasts || !node.Has("axis")) return NoParams{};
  if (axis < 0 || axis > kMaxRank) {
    return absl::InvalidArgumentError(absl::StrCat(
        "attribute 'axis' is ", axis, ", not from 0 to ", kMaxRank));
  }
  return AxisParams{axis};
}

absl::StatusOr<SymbolicShape> InferBinaryShape(InferContext& context) {
  const SymbolicShape& a = context.shape(0);
  const SymbolicShape& b = context.shape(1);
  const auto* aligned = context.params_if<AxisParams>();
  if (aligned == nullptr) return BroadcastShapes(context, a, b);
  const auto begin = static_cast<size_t>(aligned->axis);
  if (begin + b.size() > a.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", begin, " and rank ", b.size(),
                     " of input 1 go past rank ", a.size(), " of input 0"));
  }
  SymbolicShape spread(a.size(), Dim::Known(1));
  std::copy(b.begin(), b.end(), spread.begin() + begin);
  return BroadcastShapes(context, a, spread);
}

}  // namespace tensord
