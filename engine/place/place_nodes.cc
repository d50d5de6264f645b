#include "engine/place/place_nodes.h"

#include <algorithm>
#include <utility>

#include "engine/graph/status_macros.h"
#include "engine/place/expansion.h"

namespace tensord {
namespace {

// Rounds over all devices until none gains; two or three are usual.
constexpr int kMaxRounds = 16;

NodePlacement Evaluate(const PlacementProblem& problem,
                       std::vector<int32_t> devices) {
  NodePlacement placement;
  placement.transfers = TransfersOf(problem, devices);
  placement.total_ns = PlacementNs(problem, devices, placement.transfers);
  placement.devices = std::move(devices);
  return placement;
}

// Where a wanted device has a kernel, the others have none.
PlacementProblem OnlyWanted(const PlacementProblem& problem) {
  PlacementProblem constrained = problem;
  for (PlacementNode& node : constrained.nodes) {
    bool has_wanted = false;
    for (size_t d = 0; d < node.device_ns.size(); ++d) {
      has_wanted |=
          (problem.wanted_devices >> d & 1) && node.device_ns[d].has_value();
    }
    if (!has_wanted) continue;
    for (size_t d = 0; d < node.device_ns.size(); ++d) {
      if (!(problem.wanted_devices >> d & 1)) node.device_ns[d].reset();
    }
  }
  return constrained;
}

int32_t QuickestDevice(const PlacementNode& node) {
  int32_t quickest = -1;
  for (size_t d = 0; d < node.device_ns.size(); ++d) {
    if (!node.device_ns[d].has_value()) continue;
    if (quickest < 0 || *node.device_ns[d] < *node.device_ns[quickest]) {
      quickest = static_cast<int32_t>(d);
    }
  }
  return quickest;
}

// The device for all nodes that it has kernels for.
std::vector<int32_t> StartOn(const PlacementProblem& problem, int32_t device) {
  std::vector<int32_t> devices;
  for (const PlacementNode& node : problem.nodes) {
    devices.push_back(
        node.device_ns[device].has_value() ? device : QuickestDevice(node));
  }
  return devices;
}

NodePlacement Improve(const PlacementProblem& problem,
                      NodePlacement placement) {
  const auto device_count = static_cast<int32_t>(problem.devices.size());
  int32_t without_gain = 0;
  for (int32_t turn = 0; turn < kMaxRounds * device_count; ++turn) {
    NodePlacement expanded = Evaluate(
        problem, Expand(problem, placement.devices, turn % device_count));
    // A cut that is as good, but for rounding, gains nothing.
    if (expanded.total_ns < placement.total_ns * (1 - 1e-9)) {
      placement = std::move(expanded);
      without_gain = 0;
    } else if (++without_gain == device_count) {
      break;
    }
  }
  return placement;
}

}  // namespace

absl::StatusOr<NodePlacement> PlaceNodes(const PlacementProblem& problem) {
  TENSORD_RETURN_IF_ERROR(CheckPlacementProblem(problem));
  const PlacementProblem constrained = OnlyWanted(problem);
  NodePlacement best;
  for (size_t d = 0; d < problem.devices.size(); ++d) {
    NodePlacement placement = Improve(
        constrained,
        Evaluate(constrained, StartOn(constrained, static_cast<int32_t>(d))));
    if (d == 0 || placement.total_ns < best.total_ns) {
      best = std::move(placement);
    }
  }
  return best;
}

}  // namespace tensord
