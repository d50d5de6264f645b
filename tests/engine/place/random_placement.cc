#include "tests/engine/place/random_placement.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tensord {
namespace {

double Between(double low, double high, std::mt19937& random) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

int Below(int end, std::mt19937& random) {
  return std::uniform_int_distribution<int>(0, end - 1)(random);
}

PlacementNode RandomNode(const RandomPlacementOptions& options,
                         std::mt19937& random) {
  PlacementNode node;
  const double work_ns = std::exp2(Between(8, 15, random));
  for (int d = 0; d < options.device_count; ++d) {
    node.device_ns.emplace_back(work_ns *
                                std::exp2(Between(-2.5, 2.5, random)));
    if (d > 0 && Between(0, 1, random) < options.missing_kernels) {
      node.device_ns.back().reset();
    }
  }
  return node;
}

// Devices are tried node by node; what a choice has cost so far only grows.
class Search {
 public:
  explicit Search(const PlacementProblem& problem) : problem_(problem) {
    for (const PlacementValue& value : problem.values) {
      State state{.host = value.is_on_host, .devices = value.resident_devices};
      for (size_t d = 0; d < problem.devices.size(); ++d) {
        if (problem.devices[d].is_host && (value.resident_devices >> d & 1)) {
          state.host = true;
        }
      }
      states_.push_back(state);
    }
  }

  double Least() {
    best_ = std::numeric_limits<double>::infinity();
    Try(0, 0);
    return best_;
  }

  double Of(const std::vector<int32_t>& devices) {
    double cost = 0;
    for (size_t i = 0; i < devices.size(); ++i) cost += Place(i, devices[i]);
    return cost + Finish();
  }

 private:
  struct State {
    bool host = false;
    uint32_t devices = 0;
  };

  void Try(size_t index, double cost) {
    if (cost >= best_) return;
    if (index == problem_.nodes.size()) {
      const std::vector<State> saved = states_;
      best_ = std::min(best_, cost + Finish());
      states_ = saved;
      return;
    }
    for (size_t d = 0; d < problem_.devices.size(); ++d) {
      if (!problem_.nodes[index].device_ns[d].has_value()) continue;
      const std::vector<State> saved = states_;
      const double added = Place(index, static_cast<int32_t>(d));
      Try(index + 1, cost + added);
      states_ = saved;
    }
  }

  double Place(size_t index, int32_t device) {
    const PlacementNode& node = problem_.nodes[index];
    const bool is_host = problem_.devices[device].is_host;
    double cost = *node.device_ns[device];
    for (int32_t input : node.inputs) {
      State& state = states_[input];
      if (state.devices >> device & 1) continue;
      cost += ToHost(input);
      if (!is_host) cost += Link(device, input);
      state.devices |= 1u << device;
    }
    for (int32_t output : node.outputs) {
      states_[output] = {is_host, 1u << device};
    }
    return cost;
  }

  double Finish() {
    double cost = 0;
    for (size_t v = 0; v < states_.size(); ++v) {
      if (problem_.values[v].is_result) cost += ToHost(static_cast<int32_t>(v));
    }
    return cost;
  }

  double ToHost(int32_t value) {
    State& state = states_[value];
    if (state.host) return 0;
    state.host = true;
    double least = std::numeric_limits<double>::infinity();
    for (size_t d = 0; d < problem_.devices.size(); ++d) {
      if (state.devices >> d & 1) {
        least = std::min(least, Link(static_cast<int32_t>(d), value));
      }
    }
    return least;
  }

  double Link(int32_t device, int32_t value) const {
    const PlacementDevice& it = problem_.devices[device];
    return it.copy_latency_ns +
           static_cast<double>(problem_.values[value].size_bytes) /
               it.copy_bytes_per_ns;
  }

  const PlacementProblem& problem_;
  std::vector<State> states_;
  double best_ = 0;
};

}  // namespace

PlacementProblem RandomPlacement(const RandomPlacementOptions& options,
                                 std::mt19937& random) {
  PlacementProblem problem;
  for (int d = 0; d < options.device_count; ++d) {
    problem.devices.push_back({.is_host = d == 0,
                               .copy_latency_ns = Between(100, 3000, random),
                               .copy_bytes_per_ns = Between(1, 16, random)});
  }
  const auto add_value = [&] {
    problem.values.push_back({.size_bytes = static_cast<uint64_t>(
                                  std::exp2(Between(4, 16, random)))});
    return static_cast<int32_t>(problem.values.size()) - 1;
  };
  const int given_count = 1 + Below(3, random);
  for (int i = 0; i < given_count; ++i) {
    PlacementValue& value = problem.values[add_value()];
    value.resident_devices = Below(1 << options.device_count, random);
    value.is_on_host = value.resident_devices == 0 || Below(2, random) == 0;
  }
  for (int i = 0; i < options.node_count; ++i) {
    PlacementNode node = RandomNode(options, random);
    const auto there = static_cast<int>(problem.values.size());
    if (options.is_chain) {
      node.inputs.push_back(there - 1);
    } else {
      const int input_count = 1 + Below(3, random);
      // Near ones more often: graphs are long rather than wide.
      for (int k = 0; k < input_count; ++k) {
        const int back = std::min(Below(there, random), Below(there, random));
        node.inputs.push_back(there - 1 - back);
      }
    }
    const int output_count = options.is_chain || Below(5, random) > 0 ? 1 : 2;
    for (int k = 0; k < output_count; ++k) {
      node.outputs.push_back(add_value());
      problem.values.back().is_result = Below(6, random) == 0;
    }
    problem.nodes.push_back(std::move(node));
  }
  problem.values.back().is_result = true;
  return problem;
}

double LeastPlacementNs(const PlacementProblem& problem) {
  return Search(problem).Least();
}

double WalkPlacementNs(const PlacementProblem& problem,
                       const std::vector<int32_t>& devices) {
  return Search(problem).Of(devices);
}

}  // namespace tensord
