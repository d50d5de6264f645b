#include "engine/compiled/side_plan.h"

#include <functional>
#include <queue>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace tensord {
namespace {

class SidePlanner {
 public:
  SidePlanner(const Graph& graph, const Inference& inference,
              const Schedule& schedule, absl::Span<const Launch> launches,
              bool has_two)
      : graph_(graph),
        inference_(inference),
        schedule_(schedule),
        launches_(launches) {
    const size_t count = graph.values.size();
    plan_.has_two = has_two;
    plan_.is_on_device.assign(count, false);
    plan_.is_on_host.assign(count, false);
    plan_.is_uploaded.assign(count, false);
    plan_.is_downloaded.assign(count, false);
  }

  SidePlan Run() {
    for (ValueId input : graph_.inputs) At(plan_.has_two, input) = true;
    int32_t launch = 0;
    for (const auto& nodes : schedule_.segments) {
      plan_.segment_begins.push_back(
          static_cast<int32_t>(plan_.stretches.size()));
      AddSegment(launch, static_cast<int32_t>(nodes.size()));
      launch += static_cast<int32_t>(nodes.size());
    }
    plan_.segment_begins.push_back(
        static_cast<int32_t>(plan_.stretches.size()));
    for (SidePlan::PlannedStretch& stretch : plan_.stretches) {
      if (stretch.runs_on_host) continue;
      stretch.first_time_mark = plan_.time_mark_count;
      plan_.time_mark_count += stretch.launch_count + 1;
    }
    if (!plan_.has_two) return std::move(plan_);
    for (ValueId output : graph_.outputs) {
      if (IsConstant(output) || At(true, output)) continue;
      plan_.is_downloaded[schedule_.roots[output]] = true;
    }
    return std::move(plan_);
  }

 private:
  std::vector<bool>::reference At(bool on_host, ValueId value) {
    std::vector<bool>& side = on_host ? plan_.is_on_host : plan_.is_on_device;
    return side[schedule_.roots[value]];
  }

  bool IsConstant(ValueId value) const {
    return ConstantOf(inference_, schedule_, value) != kNoValue;
  }

  void AddSegment(int32_t first, int32_t count) {
    for (int32_t launch = first; launch < first + count; ++launch) {
      const bool on_host = launches_[launch].bound->runs_on_host;
      if (launch == first || on_host != plan_.stretches.back().runs_on_host) {
        plan_.stretches.push_back(
            {.runs_on_host = on_host, .first_launch = launch});
      }
      ++plan_.stretches.back().launch_count;
      const Node& node = graph_.nodes[launches_[launch].node];
      for (ValueId input : node.inputs) {
        if (input != kNoValue && !IsConstant(input)) Bring(input, on_host);
      }
      for (ValueId output : node.outputs) {
        if (output != kNoValue) At(on_host, output) = true;
      }
    }
  }

  void Bring(ValueId value, bool to_host) {
    if (At(to_host, value)) return;
    At(to_host, value) = true;
    const ValueId root = schedule_.roots[value];
    if (graph_.values[root].is_input) {
      plan_.is_uploaded[root] = true;
    } else {
      plan_.stretches.back().transfers.push_back(root);
    }
  }

  const Graph& graph_;
  const Inference& inference_;
  const Schedule& schedule_;
  const absl::Span<const Launch> launches_;
  SidePlan plan_;
};

// The nodes of one segment by side, each when what it depends on is placed.
class SideGrouper {
 public:
  SideGrouper(const Graph& graph, const Schedule& schedule,
              absl::Span<const NodeId> nodes, absl::Span<const BoundNode> bound)
      : bound_(bound), readers_(nodes.size()), open_inputs_(nodes.size(), 0) {
    absl::flat_hash_map<ValueId, int32_t> producers;  // by root
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Node& node = graph.nodes[nodes[i]];
      for (ValueId input : node.inputs) {
        if (input == kNoValue) continue;
        const auto it = producers.find(schedule.roots[input]);
        if (it == producers.end()) continue;
        readers_[it->second].push_back(static_cast<int32_t>(i));
        ++open_inputs_[i];
      }
      for (ValueId output : node.outputs) {
        if (output != kNoValue) producers[output] = static_cast<int32_t>(i);
      }
    }
  }

  // Positions in the segment, in the new order.
  std::vector<int32_t> Run() {
    for (size_t i = 0; i < open_inputs_.size(); ++i) {
      if (open_inputs_[i] == 0) Add(static_cast<int32_t>(i));
    }
    std::vector<int32_t> order;
    bool on_host = !bound_.empty() && bound_[0].runs_on_host;
    while (order.size() < open_inputs_.size()) {
      if (ready_[on_host].empty()) on_host = !on_host;
      const int32_t next = ready_[on_host].top();
      ready_[on_host].pop();
      order.push_back(next);
      for (int32_t reader : readers_[next]) {
        if (--open_inputs_[reader] == 0) Add(reader);
      }
    }
    return order;
  }

 private:
  using Earliest =
      std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>>;

  void Add(int32_t position) {
    ready_[bound_[position].runs_on_host].push(position);
  }

  const absl::Span<const BoundNode> bound_;
  std::vector<std::vector<int32_t>> readers_;
  std::vector<int32_t> open_inputs_;
  Earliest ready_[2];  // by whether it runs on the host
};

}  // namespace

ValueId ConstantOf(const Inference& inference, const Schedule& schedule,
                   ValueId value) {
  if (inference.constants[value].is_present()) return value;
  const ValueId root = schedule.roots[value];
  return inference.constants[root].is_present() ? root : kNoValue;
}

SidePlan PlanSides(const Graph& graph, const Inference& inference,
                   const Schedule& schedule, absl::Span<const Launch> launches,
                   bool has_two) {
  return SidePlanner(graph, inference, schedule, launches, has_two).Run();
}

void GroupBySide(const Graph& graph, Schedule& schedule,
                 std::vector<BoundNode>& bound) {
  std::vector<BoundNode> grouped;
  grouped.reserve(bound.size());
  size_t first = 0;
  for (std::vector<NodeId>& nodes : schedule.segments) {
    const absl::Span<BoundNode> of_segment =
        absl::MakeSpan(bound).subspan(first, nodes.size());
    first += nodes.size();
    const std::vector<int32_t> order =
        SideGrouper(graph, schedule, nodes, of_segment).Run();
    std::vector<NodeId> reordered;
    for (int32_t position : order) {
      reordered.push_back(nodes[position]);
      grouped.push_back(std::move(of_segment[position]));
    }
    nodes = std::move(reordered);
  }
  bound = std::move(grouped);
}

void ForEachTransfer(
    const Graph& graph, const Schedule& schedule, const SidePlan& plan,
    absl::FunctionRef<void(ValueId, bool is_to_host, int32_t before_launch)>
        copy) {
  for (ValueId input : graph.inputs) {
    if (plan.is_uploaded[input]) copy(input, false, 0);
  }
  int32_t launch_count = 0;
  for (const SidePlan::PlannedStretch& stretch : plan.stretches) {
    for (ValueId root : stretch.transfers) {
      copy(root, stretch.runs_on_host, stretch.first_launch);
    }
    launch_count += stretch.launch_count;
  }
  std::vector<bool> is_seen(plan.is_downloaded.size(), false);
  for (ValueId output : graph.outputs) {
    const ValueId root = schedule.roots[output];
    if (!plan.is_downloaded[root] || is_seen[root]) continue;
    is_seen[root] = true;
    copy(root, true, launch_count);
  }
}

}  // namespace tensord
