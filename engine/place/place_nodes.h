#ifndef TENSORD_ENGINE_PLACE_PLACE_NODES_H_
#define TENSORD_ENGINE_PLACE_PLACE_NODES_H_

#include "absl/status/statusor.h"
#include "engine/place/placement.h"

namespace tensord {

// Gives every node a device, so that PlacementNs() is small.
//
// A start with all nodes on one device (those without a kernel there where they
// are quickest) is bettered by expansions: in one, any number of nodes may move
// to device d at once, and which of them do is the minimum cut of a network, so
// an expansion is the best there is (Boykov, Veksler and Zabih, "Fast
// approximate energy minimization via graph cuts", 2001; a copy that several
// readers share is one extra node of the network). It goes on until no device's
// expansion gains anything, from a start on each device; the best wins. With
// two devices the outcome is the optimum; with more it was within 1 % of it in
// the tests.
//
// Threading: pure, and deterministic. Cost: some minimum cuts over networks
// with a node for each node and at most 2 + devices for each value.
// Errors: CheckPlacementProblem's.
absl::StatusOr<NodePlacement> PlaceNodes(const PlacementProblem& problem);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PLACE_PLACE_NODES_H_
