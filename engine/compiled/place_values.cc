#include "engine/compiled/place_values.h"

#include <algorithm>

#include "engine/memory/arena_planner.h"

namespace tensord {
namespace {

// One of the two memories while it is planned.
struct Side {
  Placement::Memory* memory = nullptr;
  std::vector<int32_t> last_use;  // by root: a launch, or what comes before it
  std::vector<int32_t> range_of;  // by root; -1 outside the arena
  std::vector<LiveRange> ranges;
};

class Placer {
 public:
  Placer(const Graph& graph, const Inference& inference,
         const Schedule& schedule, const SidePlan& sides,
         absl::Span<const Launch> launches)
      : graph_(graph),
        inference_(inference),
        schedule_(schedule),
        plan_(sides),
        launches_(launches) {
    placement_.workspaces.resize(launches.size());
    sides_[false].memory = &placement_.device;
    sides_[true].memory = &placement_.host;
    for (Side& side : sides_) {
      side.memory->values.resize(graph.values.size());
      side.last_use.assign(graph.values.size(), -1);
      side.range_of.assign(graph.values.size(), -1);
    }
  }

  Placement Run() {
    FindLastUses();
    PlaceInputsAndWeights();
    PlaceOutputs();
    for (const SidePlan::PlannedStretch& stretch : plan_.stretches) {
      PlaceTransfers(stretch);
      for (int32_t i = 0; i < stretch.launch_count; ++i) {
        PlaceLaunch(stretch.first_launch + i);
      }
    }
    AssignOffsets();
    CopyOutputs();
    for (Side& side : sides_) {
      std::vector<Operand>& values = side.memory->values;
      for (size_t v = 0; v < values.size(); ++v) {
        if (IsConstant(static_cast<ValueId>(v))) continue;
        values[v] = values[schedule_.roots[v]];
      }
    }
    return std::move(placement_);
  }

 private:
  ValueId root(ValueId value) const { return schedule_.roots[value]; }
  Side& SideOf(int32_t launch) {
    return sides_[launches_[launch].bound->runs_on_host];
  }
  bool IsOnHost(const Side& side) const { return &side == &sides_[true]; }
  Operand& Place(Side& side, ValueId value) {
    return side.memory->values[root(value)];
  }
  // Where an output of the graph is in the end, unless it is a constant.
  Side& OutputSide(ValueId output) {
    return sides_[plan_.has_two && plan_.is_on_host[root(output)]];
  }
  bool IsConstant(ValueId value) const {
    return inference_.constants[value].is_present();
  }
  ValueId ConstantOf(ValueId value) const {
    return tensord::ConstantOf(inference_, schedule_, value);
  }

  void FindLastUses() {
    const auto use = [&](Side& side, ValueId value, int32_t launch) {
      int32_t& last = side.last_use[root(value)];
      last = std::max(last, launch);
    };
    for (const SidePlan::PlannedStretch& stretch : plan_.stretches) {
      for (ValueId value : stretch.transfers) {
        use(sides_[!stretch.runs_on_host], value, stretch.first_launch);
      }
      for (int32_t i = 0; i < stretch.launch_count; ++i) {
        const int32_t launch = stretch.first_launch + i;
        for (ValueId input : graph_.nodes[launches_[launch].node].inputs) {
          if (input != kNoValue) use(SideOf(launch), input, launch);
        }
      }
    }
    // Values that are copied out after the last launch live to the end.
    for (ValueId output : graph_.outputs) {
      use(OutputSide(output), output, static_cast<int32_t>(launches_.size()));
    }
  }

  void PlaceInputsAndWeights() {
    for (Side& side : sides_) {
      if (IsOnHost(side) && !plan_.has_two) continue;
      for (size_t i = 0; i < graph_.inputs.size(); ++i) {
        side.memory->values[graph_.inputs[i]] = {
            .place = Operand::Place::kInput,
            .is_on_host = IsOnHost(side),
            .index = static_cast<int32_t>(i)};
      }
    }
    for (const Launch& launch : launches_) {
      for (ValueId input : graph_.nodes[launch.node].inputs) {
        if (input != kNoValue) {
          AddWeight(sides_[launch.bound->runs_on_host], input);
        }
      }
    }
    for (ValueId output : graph_.outputs) {
      AddWeight(sides_[plan_.has_two], output);
    }
  }

  // A constant is its own place rather than its root's: inference may know a
  // view of something that it did not keep.
  void AddWeight(Side& side, ValueId value) {
    const ValueId constant = ConstantOf(value);
    if (constant == kNoValue) return;
    Operand& operand = side.memory->values[constant];
    if (operand.place == Operand::Place::kWeight) return;
    operand = {.place = Operand::Place::kWeight,
               .is_on_host = IsOnHost(side),
               .index = static_cast<int32_t>(side.memory->weights.size())};
    side.memory->weights.push_back(constant);
  }

  // The first output that shares a root gets its bytes written in place.
  void PlaceOutputs() {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const ValueId output = graph_.outputs[i];
      if (ConstantOf(output) != kNoValue) continue;
      Side& side = OutputSide(output);
      Operand& operand = Place(side, output);
      if (operand.place != Operand::Place::kAbsent) continue;
      operand = {.place = Operand::Place::kOutput,
                 .is_on_host = IsOnHost(side),
                 .index = static_cast<int32_t>(i)};
    }
  }

  void PlaceTransfers(const SidePlan::PlannedStretch& stretch) {
    Side& to = sides_[stretch.runs_on_host];
    for (ValueId value : stretch.transfers) {
      if (Place(to, value).place != Operand::Place::kAbsent) continue;
      AddRange(to, value, SizeOfRoot(value), stretch.first_launch);
    }
  }

  // The bytes of a value that a node computes, at its bounds.
  uint64_t SizeOfRoot(ValueId value) const {
    const absl::StatusOr<Shape> shape = BoundShape(inference_, value);
    // Its producer is bound, so it has one.
    return shape.ok()
               ? ByteSize(inference_.types[value].dtype, shape->element_count())
               : 0;
  }

  static uint64_t SizeOf(const BoundNode& bound, size_t operand) {
    return ByteSize(bound.node.dtypes[operand],
                    bound.layouts[operand].shape.element_count());
  }

  void AddRange(Side& side, ValueId value, uint64_t size, int32_t launch) {
    Place(side, value) = {.place = Operand::Place::kArena,
                          .is_on_host = IsOnHost(side)};
    side.range_of[root(value)] = static_cast<int32_t>(side.ranges.size());
    side.ranges.push_back(
        {.size_bytes = size,
         .first_step = launch,
         .last_step = std::max(side.last_use[root(value)], launch)});
  }

  void PlaceLaunch(int32_t step) {
    const Launch& launch = launches_[step];
    const Node& node = graph_.nodes[launch.node];
    const BoundNode& bound = *launch.bound;
    Side& side = SideOf(step);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId output = node.outputs[i];
      if (output == kNoValue) continue;
      if (Place(side, output).place != Operand::Place::kAbsent) continue;
      const uint64_t size = SizeOf(bound, node.inputs.size() + i);
      const ValueId reused =
          i == 0 ? ReusableInput(side, node, bound, step, size) : kNoValue;
      if (reused == kNoValue) {
        AddRange(side, output, size, step);
        continue;
      }
      Place(side, output) = Place(side, reused);
      const int32_t range = side.range_of[root(reused)];
      side.range_of[root(output)] = range;
      side.ranges[range].last_step =
          std::max(side.last_use[root(output)], step);
    }
    workspace_ranges_.push_back(static_cast<int32_t>(side.ranges.size()));
    side.ranges.push_back({.size_bytes = bound.workspace_bytes,
                           .first_step = step,
                           .last_step = step});
  }

  // An input whose slot output 0 may take: in the arena, read here for the last
  // time and once, and of the same size whatever the data will say.
  ValueId ReusableInput(Side& side, const Node& node, const BoundNode& bound,
                        int32_t step, uint64_t size) {
    for (size_t i = 0; i < node.inputs.size() && i < 8; ++i) {
      const ValueId input = node.inputs[i];
      if ((bound.node.caps.in_place_inputs >> i & 1) == 0) continue;
      if (input == kNoValue || ConstantOf(input) != kNoValue) continue;
      if (Place(side, input).place != Operand::Place::kArena) continue;
      if (side.last_use[root(input)] != step) continue;
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
    ArenaPlan plans[2];
    for (Side& side : sides_) {
      ArenaPlan& plan = plans[IsOnHost(side)];
      plan = PlanArena(side.ranges);
      side.memory->arena_bytes = plan.arena_bytes;
      for (size_t v = 0; v < side.memory->values.size(); ++v) {
        Operand& operand = side.memory->values[v];
        if (operand.place == Operand::Place::kArena) {
          operand.offset_bytes = plan.offsets[side.range_of[v]];
        }
      }
    }
    placement_.arena_lower_bound_bytes = ArenaLowerBound(sides_[false].ranges);
    for (size_t step = 0; step < launches_.size(); ++step) {
      const ArenaPlan& plan = plans[launches_[step].bound->runs_on_host];
      placement_.workspaces[step] = plan.offsets[workspace_ranges_[step]];
    }
  }

  void CopyOutputs() {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const auto index = static_cast<int32_t>(i);
      Operand source = SourceOf(graph_.outputs[i]);
      const bool is_its_own =
          source.place == Operand::Place::kOutput && source.index == index;
      if (!is_its_own) {
        // One with the same bytes is in host memory once it is downloaded.
        source.is_on_host = plan_.has_two;
        placement_.output_copies.push_back(
            {.source = source, .output_index = index});
      } else if (plan_.has_two && !source.is_on_host) {
        placement_.downloads.push_back(index);
      }
    }
  }

  // Where an output's bytes are behind the last launch.
  Operand SourceOf(ValueId output) {
    const ValueId constant = ConstantOf(output);
    if (constant == kNoValue) return Place(OutputSide(output), output);
    return sides_[plan_.has_two].memory->values[constant];
  }

  const Graph& graph_;
  const Inference& inference_;
  const Schedule& schedule_;
  const SidePlan& plan_;
  const absl::Span<const Launch> launches_;
  Placement placement_;
  Side sides_[2];                          // by whether it is the host's
  std::vector<int32_t> workspace_ranges_;  // by launch
};

}  // namespace

Placement PlaceValues(const Graph& graph, const Inference& inference,
                      const Schedule& schedule, const SidePlan& sides,
                      absl::Span<const Launch> launches) {
  return Placer(graph, inference, schedule, sides, launches).Run();
}

}  // namespace tensord
