#include "engine/compiled/place_values.h"

#include <algorithm>

#include "engine/memory/arena_planner.h"

namespace tensord {
namespace {

class Placer {
 public:
  Placer(const Graph& graph, const Inference& inference,
         const Schedule& schedule, absl::Span<const Launch> launches)
      : graph_(graph),
        inference_(inference),
        schedule_(schedule),
        launches_(launches),
        last_use_(graph.values.size(), -1),
        range_of_(graph.values.size(), -1) {
    placement_.values.resize(graph.values.size());
    placement_.workspaces.resize(launches.size());
  }

  Placement Run() {
    FindLastUses();
    PlaceInputsAndWeights();
    PlaceOutputs();
    for (size_t step = 0; step < launches_.size(); ++step) {
      PlaceLaunch(static_cast<int32_t>(step));
    }
    AssignOffsets();
    CopyOutputs();
    for (size_t v = 0; v < placement_.values.size(); ++v) {
      if (IsConstant(static_cast<ValueId>(v))) continue;
      placement_.values[v] = placement_.values[schedule_.roots[v]];
    }
    return std::move(placement_);
  }

 private:
  ValueId root(ValueId value) const { return schedule_.roots[value]; }
  Operand& place(ValueId value) { return placement_.values[root(value)]; }
  bool IsConstant(ValueId value) const {
    return inference_.constants[value].is_present();
  }
  // The constant whose bytes a value has: its own, or its root's.
  ValueId ConstantOf(ValueId value) const {
    if (IsConstant(value)) return value;
    return IsConstant(root(value)) ? root(value) : kNoValue;
  }

  void FindLastUses() {
    for (size_t step = 0; step < launches_.size(); ++step) {
      for (ValueId input : graph_.nodes[launches_[step].node].inputs) {
        if (input != kNoValue) {
          last_use_[root(input)] = static_cast<int32_t>(step);
        }
      }
    }
    // Values that are copied out after the last launch live to the end.
    for (ValueId output : graph_.outputs) {
      last_use_[root(output)] = static_cast<int32_t>(launches_.size());
    }
  }

  void PlaceInputsAndWeights() {
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      placement_.values[graph_.inputs[i]] = {.place = Operand::Place::kInput,
                                             .index = static_cast<int32_t>(i)};
    }
    for (const Launch& launch : launches_) {
      for (ValueId input : graph_.nodes[launch.node].inputs) {
        if (input != kNoValue) AddWeight(input);
      }
    }
    for (ValueId output : graph_.outputs) AddWeight(output);
  }

  // A constant is its own place rather than its root's: inference may know a
  // view of something that it did not keep.
  void AddWeight(ValueId value) {
    const ValueId constant = ConstantOf(value);
    if (constant == kNoValue) return;
    Operand& operand = placement_.values[constant];
    if (operand.place == Operand::Place::kWeight) return;
    operand = {.place = Operand::Place::kWeight,
               .index = static_cast<int32_t>(placement_.weights.size())};
    placement_.weights.push_back(constant);
  }

  // The first output that shares a root gets its bytes written in place.
  void PlaceOutputs() {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const ValueId output = graph_.outputs[i];
      if (ConstantOf(output) != kNoValue) continue;
      Operand& operand = place(output);
      if (operand.place != Operand::Place::kAbsent) continue;
      operand = {.place = Operand::Place::kOutput,
                 .index = static_cast<int32_t>(i)};
    }
  }

  static uint64_t SizeOf(const BoundNode& bound, size_t operand) {
    return ByteSize(bound.node.dtypes[operand],
                    bound.layouts[operand].shape.element_count());
  }

  void PlaceLaunch(int32_t step) {
    const Launch& launch = launches_[step];
    const Node& node = graph_.nodes[launch.node];
    const BoundNode& bound = *launch.bound;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId output = node.outputs[i];
      if (output == kNoValue) continue;
      if (place(output).place != Operand::Place::kAbsent) continue;
      const uint64_t size = SizeOf(bound, node.inputs.size() + i);
      const int32_t last = std::max(last_use_[root(output)], step);
      const ValueId reused =
          i == 0 ? ReusableInput(node, bound, step, size) : kNoValue;
      place(output) = {.place = Operand::Place::kArena};
      if (reused != kNoValue) {
        range_of_[root(output)] = range_of_[root(reused)];
        ranges_[range_of_[root(output)]].last_step = last;
      } else {
        range_of_[root(output)] = static_cast<int32_t>(ranges_.size());
        ranges_.push_back(
            {.size_bytes = size, .first_step = step, .last_step = last});
      }
    }
    workspace_ranges_.push_back(static_cast<int32_t>(ranges_.size()));
    ranges_.push_back({.size_bytes = bound.workspace_bytes,
                       .first_step = step,
                       .last_step = step});
  }

  // An input whose slot output 0 may take: in the arena, read here for the last
  // time and once, and of the same size whatever the data will say.
  ValueId ReusableInput(const Node& node, const BoundNode& bound, int32_t step,
                        uint64_t size) {
    for (size_t i = 0; i < node.inputs.size() && i < 8; ++i) {
      const ValueId input = node.inputs[i];
      if ((bound.node.caps.in_place_inputs >> i & 1) == 0) continue;
      if (input == kNoValue || ConstantOf(input) != kNoValue) continue;
      if (place(input).place != Operand::Place::kArena) continue;
      if (last_use_[root(input)] != step) continue;
      if (SizeOf(bound, i) != size) continue;
      if (inference_.types[input].shape !=
          inference_.types[node.outputs[0]].shape) {
        continue;
      }
      const auto is_same_root = [&](ValueId other) {
        return other != kNoValue && root(other) == root(input);
      };
      if (std::count_if(node.inputs.begin(), node.inputs.end(), is_same_root) !=
          1) {
        continue;
      }
      return input;
    }
    return kNoValue;
  }

  void AssignOffsets() {
    const ArenaPlan plan = PlanArena(ranges_);
    placement_.arena_bytes = plan.arena_bytes;
    placement_.arena_lower_bound_bytes = ArenaLowerBound(ranges_);
    for (size_t v = 0; v < placement_.values.size(); ++v) {
      Operand& operand = placement_.values[v];
      if (operand.place == Operand::Place::kArena) {
        operand.offset_bytes = plan.offsets[range_of_[v]];
      }
    }
    for (size_t step = 0; step < launches_.size(); ++step) {
      placement_.workspaces[step] = plan.offsets[workspace_ranges_[step]];
    }
  }

  void CopyOutputs() {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const ValueId output = graph_.outputs[i];
      const ValueId constant = ConstantOf(output);
      const Operand& source =
          constant != kNoValue ? placement_.values[constant] : place(output);
      if (source.place == Operand::Place::kOutput &&
          source.index == static_cast<int32_t>(i)) {
        continue;
      }
      placement_.output_copies.push_back(
          {.source = source, .output_index = static_cast<int32_t>(i)});
    }
  }

  const Graph& graph_;
  const Inference& inference_;
  const Schedule& schedule_;
  const absl::Span<const Launch> launches_;
  std::vector<int32_t> last_use_;  // by root; launches_.size() for outputs
  std::vector<int32_t> range_of_;  // by root; -1 outside the arena
  std::vector<LiveRange> ranges_;
  std::vector<int32_t> workspace_ranges_;  // by launch
  Placement placement_;
};

}  // namespace

Placement PlaceValues(const Graph& graph, const Inference& inference,
                      const Schedule& schedule,
                      absl::Span<const Launch> launches) {
  return Placer(graph, inference, schedule, launches).Run();
}

}  // namespace tensord
