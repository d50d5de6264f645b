#include "engine/place/expansion.h"

#include <algorithm>
#include <limits>

#include "engine/place/min_cut.h"

namespace tensord {
namespace {

constexpr int32_t kNobody = -1;
constexpr double kNever = std::numeric_limits<double>::infinity();

// Memories: 0 is the host's, 1 + d device d's own.
constexpr int32_t kHostMemory = 0;

// When something is so: in every outcome, in none, or by what one node does.
enum class When : uint8_t { kNever, kAlways, kIfStays, kIfMoves };

When Not(When when) {
  switch (when) {
    case When::kNever:
      return When::kAlways;
    case When::kAlways:
      return When::kNever;
    case When::kIfStays:
      return When::kIfMoves;
    case When::kIfMoves:
      return When::kIfStays;
  }
  return when;
}

struct Condition {
  When when = When::kAlways;
  int32_t node = kNobody;
};

// The network whose minimum cut is the expansion: nodes that move are on the
// sink's side.
//
// A copy's cost is paid when its source is at one place AND some reader is at
// another. By the side of the nodes these two always are opposite conditions:
// what they name is either the target, which is reached by moving, or another
// place, which is left by moving. That is what makes the cost a cut.
class Network {
 public:
  Network(const PlacementProblem& problem, absl::Span<const int32_t> devices,
          int32_t target)
      : problem_(problem),
        target_memory_(MemoryOf(target)),
        cut_(static_cast<int>(problem.nodes.size())),
        readers_(problem.values.size()),
        producer_(problem.values.size(), kNobody) {
    for (size_t i = 0; i < problem.nodes.size(); ++i) {
      AddNode(static_cast<int32_t>(i), devices[i], target);
    }
    for (size_t v = 0; v < problem.values.size(); ++v) {
      const auto value = static_cast<int32_t>(v);
      if (producer_[v] == kNobody) {
        AddDownloadOfResident(value);
      } else {
        AddDownloads(value);
      }
      AddUploads(value);
    }
  }

  // By node: whether it moves.
  std::vector<bool> Solve() { return cut_.Solve(); }

 private:
  struct Mover {
    int32_t memory = kHostMemory;
    bool can_move = false;  // to another memory
  };

  int32_t MemoryOf(int32_t device) const {
    return problem_.devices[device].is_host ? kHostMemory : 1 + device;
  }

  double CopyNs(int32_t value, int32_t memory) const {
    return problem_.devices[memory - 1].CopyNs(
        problem_.values[value].size_bytes);
  }

  void AddNode(int32_t index, int32_t device, int32_t target) {
    const PlacementNode& node = problem_.nodes[index];
    const bool is_free = device != target && node.device_ns[target].has_value();
    if (is_free) {
      cut_.AddCostAtSource(index, *node.device_ns[device]);
      cut_.AddCostAtSink(index, *node.device_ns[target]);
    }
    const int32_t memory = MemoryOf(device);
    movers_.push_back({memory, is_free && memory != target_memory_});
    for (int32_t input : node.inputs) readers_[input].push_back(index);
    for (int32_t output : node.outputs) producer_[output] = index;
  }

  When IsAt(int32_t node, int32_t memory) const {
    const Mover& mover = movers_[node];
    if (memory == mover.memory) {
      return mover.can_move ? When::kIfStays : When::kAlways;
    }
    return mover.can_move && memory == target_memory_ ? When::kIfMoves
                                                      : When::kNever;
  }

  bool IsResident(int32_t value, int32_t memory) const {
    const PlacementValue& it = problem_.values[value];
    if (memory != kHostMemory) return it.resident_devices >> (memory - 1) & 1;
    if (it.is_on_host) return true;
    for (size_t d = 0; d < problem_.devices.size(); ++d) {
      if (problem_.devices[d].is_host && (it.resident_devices >> d & 1)) {
        return true;
      }
    }
    return false;
  }

  // From the producer's memory, wherever that is, to the host: when somebody
  // needs the value elsewhere.
  void AddDownloads(int32_t value) {
    const int32_t producer = producer_[value];
    const Mover& mover = movers_[producer];
    AddDownload(value, producer, mover.memory);
    if (mover.can_move) AddDownload(value, producer, target_memory_);
  }

  void AddDownload(int32_t value, int32_t producer, int32_t memory) {
    if (memory == kHostMemory) return;
    std::vector<Condition> needs;
    if (problem_.values[value].is_result) needs.push_back({When::kAlways});
    for (int32_t reader : readers_[value]) {
      needs.push_back({Not(IsAt(reader, memory)), reader});
    }
    Pay(CopyNs(value, memory), {IsAt(producer, memory), producer}, needs);
  }

  // From the nearest of the devices that hold it from the beginning.
  void AddDownloadOfResident(int32_t value) {
    if (IsResident(value, kHostMemory)) return;
    double least_ns = kNever;
    for (size_t d = 0; d < problem_.devices.size(); ++d) {
      const int32_t memory = 1 + static_cast<int32_t>(d);
      if (!IsResident(value, memory)) continue;
      least_ns = std::min(least_ns, CopyNs(value, memory));
    }
    std::vector<Condition> needs;
    if (problem_.values[value].is_result) needs.push_back({When::kAlways});
    const bool is_at_target = IsResident(value, target_memory_);
    for (int32_t reader : readers_[value]) {
      const Mover& mover = movers_[reader];
      const bool is_there = IsResident(value, mover.memory);
      if (!mover.can_move) {
        needs.push_back({is_there ? When::kNever : When::kAlways, reader});
      } else if (is_there != is_at_target) {
        needs.push_back({is_there ? When::kIfMoves : When::kIfStays, reader});
      } else if (!is_there) {
        needs.push_back({When::kAlways, reader});
      }
    }
    Pay(least_ns, {When::kAlways}, needs);
  }

  // From the host to each device with readers that does not have the value.
  void AddUploads(int32_t value) {
    for (size_t d = 0; d < problem_.devices.size(); ++d) {
      const int32_t memory = 1 + static_cast<int32_t>(d);
      if (problem_.devices[d].is_host || IsResident(value, memory)) continue;
      std::vector<Condition> needs;
      for (int32_t reader : readers_[value]) {
        needs.push_back({IsAt(reader, memory), reader});
      }
      const int32_t producer = producer_[value];
      const When lacks =
          producer == kNobody ? When::kAlways : Not(IsAt(producer, memory));
      Pay(CopyNs(value, memory), {lacks, producer}, needs);
    }
  }

  // `cost` is paid when `source` holds and some of the needs.
  void Pay(double cost, Condition source, absl::Span<const Condition> needs) {
    if (source.when == When::kNever) return;
    When readers_when = When::kNever;
    for (const Condition& need : needs) {
      if (need.when == When::kAlways) return PayFor(cost, source);
      if (need.when != When::kNever) readers_when = need.when;
    }
    if (readers_when == When::kNever) return;
    // One node more, which shares the cost: it goes along with any reader that
    // needs the copy.
    const int joint = cut_.AddNode();
    const bool is_for_movers = readers_when == When::kIfMoves;
    for (const Condition& need : needs) {
      if (need.when != readers_when) continue;
      if (is_for_movers) {
        cut_.AddEdge(joint, need.node, kNever);
      } else {
        cut_.AddEdge(need.node, joint, kNever);
      }
    }
    if (source.when == When::kAlways) {
      PayFor(cost, {is_for_movers ? When::kIfMoves : When::kIfStays, joint});
    } else if (is_for_movers) {
      cut_.AddEdge(source.node, joint, cost);
    } else {
      cut_.AddEdge(joint, source.node, cost);
    }
  }

  // `cost` is paid when the condition holds; always is no matter for a choice.
  void PayFor(double cost, Condition condition) {
    if (condition.when == When::kIfStays) {
      cut_.AddCostAtSource(condition.node, cost);
    } else if (condition.when == When::kIfMoves) {
      cut_.AddCostAtSink(condition.node, cost);
    }
  }

  const PlacementProblem& problem_;
  const int32_t target_memory_;
  MinCut cut_;
  std::vector<Mover> movers_;                  // by node
  std::vector<std::vector<int32_t>> readers_;  // by value
  std::vector<int32_t> producer_;              // by value
};

}  // namespace

std::vector<int32_t> Expand(const PlacementProblem& problem,
                            absl::Span<const int32_t> devices, int32_t target) {
  const std::vector<bool> moves = Network(problem, devices, target).Solve();
  std::vector<int32_t> expanded(devices.begin(), devices.end());
  for (size_t i = 0; i < expanded.size(); ++i) {
    if (moves[i] && problem.nodes[i].device_ns[target].has_value()) {
      expanded[i] = target;
    }
  }
  return expanded;
}

}  // namespace tensord
