#include "engine/ops/normalization_rules.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"

namespace tensord {

absl::StatusOr<float> ReadEpsilon(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(const float epsilon, node.Float("epsilon", 1e-5f));
  if (epsilon >= 0 && std::isfinite(epsilon)) return epsilon;
  return absl::InvalidArgumentError(
      absl::StrCat("attribute 'epsilon' is ", epsilon,
                   ", not a finite number of at least 0"));
}

absl::Status CheckStashType(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(const int64_t number, node.Int("stash_type", 1));
  const DType dtype = DTypeFromNumber(number).value_or(DType::kUndefined);
  if (std::find(std::begin(kFloatDTypes), std::end(kFloatDTypes), dtype) !=
      std::end(kFloatDTypes)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("attribute 'stash_type' is ", number,
                   ", not the number of a floating dtype"));
}

}  // namespace tensord
