#ifndef TENSORD_BACKENDS_API_MOVEMENT_PLAN_H_
#define TENSORD_BACKENDS_API_MOVEMENT_PLAN_H_

#include <array>

#include "absl/status/statusor.h"
#include "backends/api/kernel.h"
#include "backends/api/slice_range.h"

// What Slice and Split do to a dimension, from a node's parameters and from
// what is known of its inputs before the run (CheckKnown), for backends whose
// launches only enqueue.
//
// Threading and ownership: functions of their arguments alone.
namespace tensord {

// What Slice takes of each of input 0's dimensions, the outermost first.
// Errors: kInvalidArgument for an axis that there is not or that is given
//   twice, and for a step of 0.
absl::StatusOr<std::array<SliceRange, kMaxRank>> FindSliceRanges(
    const NodeSite& site);

// The parts' extents along Split's axis, one for each output.
// Errors: kInvalidArgument when they are not the axis's extent together.
absl::StatusOr<Dims> FindSplitParts(const NodeSite& site);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_MOVEMENT_PLAN_H_
