#ifndef TENSORD_ENGINE_PLACE_EXPANSION_H_
#define TENSORD_ENGINE_PLACE_EXPANSION_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "engine/place/placement.h"

namespace tensord {

// The best placement that differs from `devices` only by nodes that have moved
// to `target`: nodes without an estimate there stay. Costs are PlacementNs().
//
// `problem` is well-formed, and `devices` has an estimate for each node.
// Threading: pure.
std::vector<int32_t> Expand(const PlacementProblem& problem,
                            absl::Span<const int32_t> devices, int32_t target);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PLACE_EXPANSION_H_
