#include "backends/api/movement_plan.h"

#include <algorithm>
#include <cstdint>
#include <variant>

#include "absl/strings/str_cat.h"
#include "backends/api/axis_view.h"
#include "backends/api/host_arguments.h"

namespace tensord {

absl::StatusOr<std::array<SliceRange, kMaxRank>> FindSliceRanges(
    const NodeSite& site) {
  const Shape& shape = site.input(0).shape;
  const int rank = shape.rank();
  std::array<SliceRange, kMaxRank> ranges;
  for (int d = 0; d < rank; ++d) ranges[d] = {0, 1, shape[d]};
  if (!IsGiven(site, 1)) return ranges;
  const Dims starts = HostIntegers(site, 1);
  const Dims ends = HostIntegers(site, 2);
  const Dims axes = IsGiven(site, 3) ? HostIntegers(site, 3) : Dims();
  const Dims steps = IsGiven(site, 4) ? HostIntegers(site, 4) : Dims();
  std::array<bool, kMaxRank> is_sliced{};
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t axis = axes.empty() ? static_cast<int64_t>(i) : axes[i];
    const int64_t step = steps.empty() ? 1 : steps[i];
    if (axis < -rank || axis >= rank || step == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axis, " of rank ", rank, " with step ", step));
    }
    const int d = Normalised(axis, rank);
    if (is_sliced[d]) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", d, " is given twice"));
    }
    is_sliced[d] = true;
    ranges[d] = ResolveSlice(starts[i], ends[i], step, shape[d]);
  }
  return ranges;
}

absl::StatusOr<Dims> FindSplitParts(const NodeSite& site) {
  const auto& params = std::get<SplitParams>(site.params);
  const AxisView x(site.input(0).shape, params.axis);
  const auto count =
      static_cast<int64_t>(site.dtypes.size()) - site.input_count;
  Dims extents;
  if (IsGiven(site, 1)) {
    extents = HostIntegers(site, 1);
  } else {
    const bool rounds_up = params.last_may_be_smaller;
    const int64_t equal = (x.extent + (rounds_up ? count - 1 : 0)) / count;
    for (int64_t k = 0, left = x.extent; k < count; ++k) {
      extents.push_back(std::min(equal, left));
      left -= extents.back();
    }
  }
  int64_t sum = 0;
  bool is_valid = static_cast<int64_t>(extents.size()) == count;
  for (int64_t extent : extents) {
    is_valid = is_valid && extent >= 0 && extent <= x.extent - sum;
    if (is_valid) sum += extent;
  }
  if (is_valid && sum == x.extent) return extents;
  return absl::InvalidArgumentError(
      absl::StrCat(count, " parts are not ", x.extent, " along the axis"));
}

}  // namespace tensord
