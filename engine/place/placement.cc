#include "engine/place/placement.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"

namespace tensord {
namespace {

// Thirty years. Sums of estimates below it are finite, so that their
// differences are numbers.
constexpr double kMaxNs = 1e18;

// Where a value's bytes are while the nodes run in order.
class Copies {
 public:
  Copies(const PlacementProblem& problem,
         std::vector<PlacementTransfer>& transfers)
      : problem_(problem), transfers_(transfers) {
    for (const PlacementValue& value : problem.values) {
      is_on_host_.push_back(value.is_on_host);
      on_device_.push_back(value.resident_devices);
      for (size_t d = 0; d < problem.devices.size(); ++d) {
        if (value.resident_devices >> d & 1) {
          Add(static_cast<int32_t>(is_on_host_.size()) - 1,
              static_cast<int32_t>(d));
        }
      }
    }
  }

  void Add(int32_t value, int32_t device) {
    on_device_[value] |= uint32_t{1} << device;
    if (problem_.devices[device].is_host) is_on_host_[value] = true;
  }

  void BringToHost(int32_t value, int32_t before_node) {
    if (is_on_host_[value]) return;
    int32_t from = PlacementTransfer::kHost;
    double least_ns = 0;
    for (size_t d = 0; d < problem_.devices.size(); ++d) {
      if (!(on_device_[value] >> d & 1)) continue;
      const double ns = CopyNs(value, static_cast<int32_t>(d));
      if (from != PlacementTransfer::kHost && ns >= least_ns) continue;
      from = static_cast<int32_t>(d);
      least_ns = ns;
    }
    transfers_.push_back(
        {value, from, PlacementTransfer::kHost, least_ns, before_node});
    is_on_host_[value] = true;
  }

  void BringToDevice(int32_t value, int32_t device, int32_t before_node) {
    if (on_device_[value] >> device & 1) return;
    BringToHost(value, before_node);
    if (!problem_.devices[device].is_host) {
      transfers_.push_back({value, PlacementTransfer::kHost, device,
                            CopyNs(value, device), before_node});
    }
    on_device_[value] |= uint32_t{1} << device;
  }

 private:
  double CopyNs(int32_t value, int32_t device) const {
    return problem_.devices[device].CopyNs(problem_.values[value].size_bytes);
  }

  const PlacementProblem& problem_;
  std::vector<PlacementTransfer>& transfers_;
  std::vector<bool> is_on_host_;
  std::vector<uint32_t> on_device_;
};

absl::Status CheckNode(const PlacementProblem& problem, size_t index,
                       std::vector<bool>& is_there) {
  const PlacementNode& node = problem.nodes[index];
  const auto is_value = [&](int32_t value) {
    return value >= 0 && static_cast<size_t>(value) < is_there.size();
  };
  for (int32_t input : node.inputs) {
    if (is_value(input) && is_there[input]) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "node ", index, " reads value ", input, ", which is not there"));
  }
  for (int32_t output : node.outputs) {
    if (!is_value(output) || is_there[output]) {
      return absl::InvalidArgumentError(
          absl::StrCat("node ", index, " computes value ", output,
                       ", which is there already or none of the graph's"));
    }
    is_there[output] = true;
  }
  if (node.device_ns.size() != problem.devices.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("node ", index, " has ", node.device_ns.size(),
                     " estimates for ", problem.devices.size(), " devices"));
  }
  bool has_kernel = false;
  for (const std::optional<double>& ns : node.device_ns) {
    if (!ns.has_value()) continue;
    has_kernel = true;
    if (*ns > 0 && *ns <= kMaxNs) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("node ", index, " is estimated to take ", *ns,
                     " ns, not above 0 and at most ", kMaxNs));
  }
  if (has_kernel) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("node ", index, " has no kernel on any of ",
                   problem.devices.size(), " devices"));
}

absl::Status CheckValue(const PlacementProblem& problem, size_t index) {
  const PlacementValue& value = problem.values[index];
  if (uint64_t{value.resident_devices} >> problem.devices.size() != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "value ", index, " is resident on a device past the last of ",
        problem.devices.size()));
  }
  for (size_t d = 0; d < problem.devices.size(); ++d) {
    const double ns = problem.devices[d].CopyNs(value.size_bytes);
    if (ns >= 0 && ns <= kMaxNs) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "a copy of value ", index, " between device ", d, " and the host is ",
        "estimated to take ", ns, " ns, not 0 to ", kMaxNs));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPlacementProblem(const PlacementProblem& problem) {
  if (problem.devices.size() > PlacementProblem::kMaxDevices) {
    return absl::InvalidArgumentError(
        absl::StrCat(problem.devices.size(), " devices are above the ",
                     PlacementProblem::kMaxDevices, " that can be placed on"));
  }
  for (size_t d = 0; d < problem.devices.size(); ++d) {
    if (problem.devices[d].copy_bytes_per_ns > 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "device ", d, " copies ", problem.devices[d].copy_bytes_per_ns,
        " bytes a nanosecond, not above 0"));
  }
  std::vector<bool> is_there;
  for (size_t v = 0; v < problem.values.size(); ++v) {
    TENSORD_RETURN_IF_ERROR(CheckValue(problem, v));
    const PlacementValue& value = problem.values[v];
    is_there.push_back(value.is_on_host || value.resident_devices != 0);
  }
  for (size_t i = 0; i < problem.nodes.size(); ++i) {
    TENSORD_RETURN_IF_ERROR(CheckNode(problem, i, is_there));
  }
  for (size_t v = 0; v < problem.values.size(); ++v) {
    if (problem.values[v].is_result && !is_there[v]) {
      return absl::InvalidArgumentError(
          absl::StrCat("value ", v, " is a result and never there"));
    }
  }
  return absl::OkStatus();
}

std::vector<PlacementTransfer> TransfersOf(const PlacementProblem& problem,
                                           absl::Span<const int32_t> devices) {
  std::vector<PlacementTransfer> transfers;
  Copies copies(problem, transfers);
  const auto node_count = static_cast<int32_t>(problem.nodes.size());
  for (int32_t i = 0; i < node_count; ++i) {
    const PlacementNode& node = problem.nodes[i];
    for (int32_t input : node.inputs) {
      copies.BringToDevice(input, devices[i], i);
    }
    for (int32_t output : node.outputs) copies.Add(output, devices[i]);
  }
  for (size_t v = 0; v < problem.values.size(); ++v) {
    if (!problem.values[v].is_result) continue;
    copies.BringToHost(static_cast<int32_t>(v), node_count);
  }
  return transfers;
}

double PlacementNs(const PlacementProblem& problem,
                   absl::Span<const int32_t> devices,
                   absl::Span<const PlacementTransfer> transfers) {
  double total_ns = 0;
  for (size_t i = 0; i < problem.nodes.size(); ++i) {
    total_ns += *problem.nodes[i].device_ns[devices[i]];
  }
  for (const PlacementTransfer& transfer : transfers) {
    total_ns += transfer.estimated_ns;
  }
  return total_ns;
}

}  // namespace tensord
