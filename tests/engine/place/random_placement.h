#ifndef TENSORD_TESTS_ENGINE_PLACE_RANDOM_PLACEMENT_H_
#define TENSORD_TESTS_ENGINE_PLACE_RANDOM_PLACEMENT_H_

#include <random>

#include "engine/place/placement.h"

namespace tensord {

// Problems whose answer is not plain: copies cost about as much as nodes do.
struct RandomPlacementOptions {
  int node_count = 12;
  int device_count = 2;
  double missing_kernels = 0.1;  // the share; device 0 has all
  bool is_chain = false;
};
PlacementProblem RandomPlacement(const RandomPlacementOptions& options,
                                 std::mt19937& random);

// The least cost there is, found by trying everything that is not known to be
// worse. Counts copies by walking the nodes in order, and shares no code with
// engine/place.
double LeastPlacementNs(const PlacementProblem& problem);

// The cost by the same walk of one choice.
double WalkPlacementNs(const PlacementProblem& problem,
                       const std::vector<int32_t>& devices);

}  // namespace tensord

#endif  // TENSORD_TESTS_ENGINE_PLACE_RANDOM_PLACEMENT_H_
