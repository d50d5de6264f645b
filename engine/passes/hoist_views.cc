#include "engine/passes/hoist_views.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "engine/passes/expression_step.h"
#include "engine/passes/node_query.h"

namespace tensord {
namespace {

class ViewHoister {
 public:
  explicit ViewHoister(GraphEditor& graph) : graph_(graph) {}

  int Run() {
    int count = 0;
    // A moved view is looked at again: it may move further.
    std::vector<NodeId> rest = graph_.nodes();
    while (!rest.empty()) {
      const NodeId id = rest.back();
      rest.pop_back();
      if (!graph_.is_live(id) || !IsView(graph_.node(id))) continue;
      if (CanMove(id)) {
        Move(id, rest);
        ++count;
      }
    }
    return count;
  }

 private:
  bool IsStep(NodeId id) const {
    return id != kNoNode &&
           ElementwiseStepOf(graph_.node(id), graph_.inference()).has_value();
  }

  // Inputs below it are broadcast to the result; Clip's bounds are not.
  static size_t OperandCount(const Node& step) {
    return step.op == OpKind::kClip ? 1 : step.inputs.size();
  }

  bool CanMove(NodeId view) {
    const ValueId from = graph_.node(view).inputs[0];
    const ValueId to = graph_.node(view).outputs[0];
    const NodeId step = graph_.producer(from);
    if (!IsStep(step) || graph_.only_reader(from) != view) return false;
    const std::vector<NodeId> readers = graph_.readers(to);
    if (std::none_of(readers.begin(), readers.end(),
                     [&](NodeId id) { return IsStep(id); })) {
      return false;
    }
    bool has_whole = false;
    for (size_t i = 0; i < OperandCount(graph_.node(step)); ++i) {
      const ValueId input = graph_.node(step).inputs[i];
      if (input == kNoValue) continue;
      if (IsWhole(input, from)) {
        has_whole = true;
        const NodeId source = graph_.producer(input);
        if (source != kNoNode && IsContraction(graph_.node(source).op)) {
          return false;
        }
      } else if (!IsOneElement(input) || graph_.type(input).shape->size() >
                                             graph_.type(to).shape->size()) {
        return false;
      }
    }
    return has_whole;
  }

  bool IsWhole(ValueId input, ValueId result) const {
    return graph_.type(input).shape == graph_.type(result).shape;
  }

  bool IsOneElement(ValueId input) const {
    const auto shape = graph_.shape(input);
    return shape.has_value() && shape->element_count() == 1;
  }

  void Move(NodeId view_id, std::vector<NodeId>& moved) {
    const Node view = graph_.node(view_id);
    const ValueId from = view.inputs[0];
    const ValueId to = view.outputs[0];
    const NodeId step_id = graph_.producer(from);
    Node step = graph_.node(step_id);
    graph_.Remove(view_id);
    absl::flat_hash_map<ValueId, ValueId> above;
    for (size_t i = 0; i < OperandCount(step); ++i) {
      ValueId& input = step.inputs[i];
      if (input == kNoValue || !IsWhole(input, from)) continue;
      const auto [it, is_new] = above.try_emplace(input, kNoValue);
      if (is_new) {
        it->second = graph_.AddValue(
            {graph_.type(input).dtype, graph_.type(to).shape}, input);
        Node copy = view;
        copy.inputs[0] = input;
        copy.outputs = {it->second};
        moved.push_back(graph_.InsertBefore(step_id, std::move(copy)));
      }
      input = it->second;
    }
    step.outputs = {to};
    graph_.Replace(step_id, std::move(step));
  }

  GraphEditor& graph_;
};

}  // namespace

int HoistViews(GraphEditor& graph) { return ViewHoister(graph).Run(); }

}  // namespace tensord
