#include "engine/compiled/schedule.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/ops/op_table.h"

namespace tensord {
namespace {

// An operator that may tell extents does so only where an argument is not known
// before the run: Slice with constant starts does not end a segment.
class ToldExtents {
 public:
  explicit ToldExtents(const Inference& inference) : inference_(inference) {}

  bool Has(const Node& node) const {
    const OpDef* def = FindOpDef(node.op);
    if (def == nullptr || !def->has_data_dependent_extents) return false;
    for (ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      for (Dim dim : ShapeOf(output)) {
        if (IsTold(node, dim)) return true;
      }
    }
    return false;
  }

 private:
  // Whether `dim` of an output is new with the node rather than its inputs' or
  // an expression of theirs.
  bool IsTold(const Node& node, Dim dim) const {
    if (dim.is_known() || !inference_.symbols.is_data_dependent(dim.symbol()) ||
        inference_.symbols.is_expression(dim.symbol())) {
      return false;
    }
    return std::none_of(
        node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
          if (input == kNoValue) return false;
          const SymbolicShape& shape = ShapeOf(input);
          return std::find(shape.begin(), shape.end(), dim) != shape.end();
        });
  }

  const SymbolicShape& ShapeOf(ValueId value) const {
    static const SymbolicShape* const kUnranked = new SymbolicShape;
    const std::optional<SymbolicShape>& shape = inference_.types[value].shape;
    return shape.has_value() ? *shape : *kUnranked;
  }

  const Inference& inference_;
};

// What an output of the graph needs at the run, by node.
struct Liveness {
  std::vector<bool> is_live;
  // Its operator's output 0 is input 0's place, and nobody wants another output
  // (Dropout's mask), which would have to be computed.
  std::vector<bool> is_view;
};

Liveness FindLive(const Graph& graph, const Inference& inference) {
  std::vector<bool> is_needed(graph.values.size(), false);
  for (ValueId output : graph.outputs) is_needed[output] = true;
  Liveness found{std::vector<bool>(graph.nodes.size(), false),
                 std::vector<bool>(graph.nodes.size(), false)};
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    const auto is_wanted = [&](ValueId output) {
      return output != kNoValue && is_needed[output] &&
             !inference.constants[output].is_present();
    };
    const OpDef* def = FindOpDef(node.op);
    found.is_view[i] =
        def != nullptr && def->is_view &&
        std::none_of(node.outputs.begin() + 1, node.outputs.end(), is_wanted);
    found.is_live[i] =
        std::any_of(node.outputs.begin(), node.outputs.end(), is_wanted);
    if (!found.is_live[i]) continue;
    // A view needs only the bytes; its other inputs were read by inference.
    const size_t input_count = found.is_view[i] ? 1 : node.inputs.size();
    for (size_t k = 0; k < input_count; ++k) {
      if (node.inputs[k] != kNoValue) is_needed[node.inputs[k]] = true;
    }
  }
  return found;
}

std::vector<ValueId> FindRoots(const Graph& graph,
                               const std::vector<bool>& is_view) {
  std::vector<ValueId> roots(graph.values.size());
  for (size_t i = 0; i < roots.size(); ++i) roots[i] = static_cast<ValueId>(i);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (is_view[i] && node.outputs[0] != kNoValue) {
      roots[node.outputs[0]] = roots[node.inputs[0]];
    }
  }
  return roots;
}

class Scheduler {
 public:
  Scheduler(const Graph& graph, const Inference& inference)
      : graph_(graph),
        inference_(inference),
        told_(inference),
        first_segment_(graph.values.size(), 0) {}

  absl::StatusOr<Schedule> Run() {
    const Liveness found = FindLive(graph_, inference_);
    schedule_.roots = FindRoots(graph_, found.is_view);
    schedule_.segment_by_node.assign(graph_.nodes.size(), -1);
    schedule_.segments.resize(1);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (found.is_live[i]) Place(static_cast<NodeId>(i), found.is_view[i]);
    }
    if (absl::Status status = NumberCells(); !status.ok()) return status;
    return std::move(schedule_);
  }

 private:
  void Place(NodeId id, bool is_view) {
    const Node& node = graph_.nodes[id];
    int segment = 0;
    for (ValueId input : node.inputs) {
      if (input != kNoValue) {
        segment = std::max(segment, first_segment_[input]);
      }
    }
    const bool ends_segment = told_.Has(node);
    for (ValueId output : node.outputs) {
      if (output != kNoValue) {
        first_segment_[output] = segment + (ends_segment ? 1 : 0);
      }
    }
    if (is_view) {
      schedule_.views.push_back(id);
      return;
    }
    if (static_cast<size_t>(segment) >= schedule_.segments.size()) {
      schedule_.segments.resize(segment + 1);
    }
    schedule_.segments[segment].push_back(id);
    schedule_.segment_by_node[id] = segment;
  }

  absl::Status NumberCells() {
    for (size_t s = 0; s < schedule_.segments.size(); ++s) {
      for (NodeId id : schedule_.segments[s]) {
        if (!told_.Has(graph_.nodes[id])) continue;
        Schedule::Cells cells{.node = id, .segment = static_cast<int>(s)};
        for (ValueId output : graph_.nodes[id].outputs) {
          if (output == kNoValue) continue;
          if (absl::Status status = AddCells(output, cells); !status.ok()) {
            return WithNode(status, graph_.nodes[id].name);
          }
        }
        schedule_.cells.push_back(std::move(cells));
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddCells(ValueId value, Schedule::Cells& cells) {
    absl::StatusOr<Shape> bound = BoundShape(inference_, value);
    if (!bound.ok()) return bound.status();
    for (int d = 0; d < bound->rank(); ++d) {
      cells.extents.push_back({.value = value,
                               .dimension = d,
                               .extent_cell_index = schedule_.cell_count++,
                               .upper_bound = (*bound)[d]});
    }
    return absl::OkStatus();
  }

  const Graph& graph_;
  const Inference& inference_;
  const ToldExtents told_;
  std::vector<int> first_segment_;  // by value: where its extents are known
  Schedule schedule_;
};

}  // namespace

const Schedule::Cells* Schedule::cells_of(NodeId node) const {
  for (const Cells& candidate : cells) {
    if (candidate.node == node) return &candidate;
  }
  return nullptr;
}

absl::StatusOr<Shape> BoundShape(const Inference& inference, ValueId value) {
  const std::optional<SymbolicShape>& symbolic = inference.types[value].shape;
  if (!symbolic.has_value()) {
    return absl::InternalError("a value's rank is not known at compilation");
  }
  Dims extents;
  for (const Dim dim : *symbolic) {
    const int64_t extent = dim.is_known()
                               ? dim.extent()
                               : inference.symbols.upper_bound(dim.symbol());
    if (extent == SymbolTable::kUnbounded) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "dimension ", extents.size(), " of ",
          inference.symbols.ToString(*symbolic),
          " has no upper bound that follows from the input shapes"));
    }
    extents.push_back(extent);
  }
  return Shape::Create(extents);
}

absl::StatusOr<Schedule> MakeSchedule(const Graph& graph,
                                      const Inference& inference) {
  return Scheduler(graph, inference).Run();
}

}  // namespace tensord
