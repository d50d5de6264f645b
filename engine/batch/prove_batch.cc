#include "engine/batch/prove_batch.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/batch/row_rules.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/infer/infer.h"
#include "engine/ops/op_table.h"

namespace tensord {
namespace {

std::string Named(const Node& node) {
  return absl::StrCat("node ", Quoted(node.name), " (", OpKindName(node.op),
                      ")");
}

bool AreEqual(const HostTensor& a, const HostTensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.owner() == b.owner() || a.bytes() == b.bytes());
}

// Walks a graph whose types are known for two batch sizes.
class BatchProver {
 public:
  BatchProver(const Graph& graph, std::array<Inference, 2> inferences,
              std::array<int64_t, 2> batches)
      : graph_(graph),
        inferences_(std::move(inferences)),
        batches_(batches),
        kinds_(graph.values.size(), RowKind::kNone) {
    for (int size = 0; size < 2; ++size) {
      shapes_[size].resize(graph.values.size());
      for (size_t id = 0; id < graph.values.size(); ++id) {
        const auto& shape = inferences_[size].types[id].shape;
        if (!shape.has_value() || !IsKnown(*shape)) continue;
        absl::StatusOr<Shape> concrete = ToConcrete(*shape);
        if (concrete.ok()) shapes_[size][id] = *std::move(concrete);
      }
    }
    for (size_t id = 0; id < graph.values.size(); ++id) {
      if (graph.values[id].constant.is_present()) kinds_[id] = RowKind::kFixed;
    }
    for (ValueId id : graph.inputs) kinds_[id] = RowKind::kStacked;
  }

  absl::StatusOr<std::vector<RowKind>> Prove() {
    for (const Node& node : graph_.nodes) {
      absl::Status status = ProveNode(node);
      if (status.ok()) continue;
      return NotProven(absl::StrCat(Named(node), ": ", status.message()));
    }
    std::vector<RowKind> outputs;
    for (ValueId id : graph_.outputs) {
      if (kinds_[id] != RowKind::kStacked && kinds_[id] != RowKind::kFixed) {
        return NotProven(absl::StrCat("output ", Quoted(graph_.value(id).name),
                                      " follows from the batch's size"));
      }
      outputs.push_back(kinds_[id]);
    }
    return outputs;
  }

 private:
  absl::Status ProveNode(const Node& node) {
    const OpDef* op_def = FindOpDef(node.op);
    if (op_def == nullptr || op_def->is_flow) {
      return NotProven("control flow, or a sequence");
    }
    if (!op_def->is_pure) return NotProven("it draws random numbers");
    for (ValueId id : node.outputs) {
      if (id == kNoValue || HasShapes(id)) continue;
      return NotProven("the extents of its output follow from the data");
    }
    if (AreFixed(node)) {
      SetKinds(node, RowKind::kFixed);
      return absl::OkStatus();
    }
    absl::Status status = ProveByRule(node);
    if (status.ok()) {
      SetKinds(node, RowKind::kStacked);
    } else if (AreKnown(node)) {
      SetKinds(node, RowKind::kExtents);
      return absl::OkStatus();
    }
    return status;
  }

  absl::Status ProveByRule(const Node& node) const {
    const RowRule rule = FindRowRule(node.op);
    if (rule == nullptr) {
      return NotProven("no rule says that it keeps requests apart");
    }
    const NodeRows rows(node, OperandsOf(node.inputs),
                        OperandsOf(node.outputs));
    TENSORD_RETURN_IF_ERROR(rule(rows));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      TENSORD_RETURN_IF_ERROR(rows.CheckOutput(static_cast<int>(i), batches_));
    }
    return absl::OkStatus();
  }

  bool HasShapes(ValueId id) const {
    return shapes_[0][id].has_value() && shapes_[1][id].has_value();
  }
  const HostTensor* Constant(int size, ValueId id) const {
    const HostTensor& constant = inferences_[size].constants[id];
    return constant.is_present() ? &constant : nullptr;
  }
  void SetKinds(const Node& node, RowKind kind) {
    for (ValueId id : node.outputs) {
      if (id != kNoValue) kinds_[id] = kind;
    }
  }

  // Known before the run at both sizes: then no request's data is in it.
  bool AreKnown(const Node& node) const {
    for (ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      if (Constant(0, id) == nullptr || Constant(1, id) == nullptr) {
        return false;
      }
    }
    return true;
  }

  // The same inputs, and the same shapes: the same outputs. Or they are known
  // before the run, and are the same.
  bool AreFixed(const Node& node) const {
    bool is_fixed = true;
    for (ValueId id : node.inputs) {
      is_fixed &= id == kNoValue || kinds_[id] == RowKind::kFixed;
    }
    for (ValueId id : node.outputs) {
      is_fixed &= id == kNoValue || shapes_[0][id] == shapes_[1][id];
    }
    if (is_fixed || !AreKnown(node)) return is_fixed;
    for (ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      if (!AreEqual(*Constant(0, id), *Constant(1, id))) return false;
    }
    return true;
  }

  std::vector<NodeRows::Operand> OperandsOf(
      absl::Span<const ValueId> values) const {
    std::vector<NodeRows::Operand> operands;
    for (ValueId id : values) {
      NodeRows::Operand& operand = operands.emplace_back();
      if (id == kNoValue) continue;
      operand.kind = kinds_[id];
      for (int size = 0; size < 2; ++size) {
        operand.shapes[size] = &*shapes_[size][id];
        operand.constants[size] = Constant(size, id);
      }
    }
    return operands;
  }

  const Graph& graph_;
  const std::array<Inference, 2> inferences_;
  const std::array<int64_t, 2> batches_;
  std::array<std::vector<std::optional<Shape>>, 2> shapes_;
  std::vector<RowKind> kinds_;  // by ValueId
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Graph>> OpenBatch(
    const std::shared_ptr<const Graph>& graph) {
  if (graph->inputs.empty()) return NotProven("the graph has no inputs");
  size_t fixed_count = 0;
  for (ValueId id : graph->inputs) {
    const Value& input = graph->value(id);
    const auto& shape = input.type.shape;
    if (!shape.has_value() || shape->empty()) {
      return NotProven(absl::StrCat("input ", Quoted(input.name),
                                    " has no dimension for a batch"));
    }
    const Dim leading = shape->front();
    if (!leading.is_known()) continue;
    ++fixed_count;
    if (leading.extent() == 1) continue;
    return NotProven(absl::StrCat("input ", Quoted(input.name),
                                  " fixes its leading extent at ",
                                  leading.extent()));
  }
  if (fixed_count == 0) return graph;
  if (fixed_count != graph->inputs.size()) {
    return NotProven(absl::StrCat(
        fixed_count, " of ", graph->inputs.size(),
        " inputs fix their leading extent at 1, and the others do not"));
  }
  auto open = std::make_shared<Graph>(*graph);
  const Dim batch = open->symbols.Unnamed();
  for (ValueId id : open->inputs) {
    open->values[id].type.shape->front() = batch;
  }
  // What the client claims of outputs is for a batch of 1, and checked for it.
  for (ValueId id : open->outputs) {
    Value& output = open->values[id];
    if (!output.is_input && !output.constant.is_present()) output.type = {};
  }
  return open;
}

absl::StatusOr<std::vector<Shape>> WithLeadingExtent(
    absl::Span<const Shape> shapes, int64_t extent) {
  std::vector<Shape> result;
  for (const Shape& shape : shapes) {
    Dims extents(shape.extents().begin(), shape.extents().end());
    extents.front() = extent;
    TENSORD_ASSIGN_OR_RETURN(Shape with, Shape::Create(extents));
    result.push_back(std::move(with));
  }
  return result;
}

absl::StatusOr<std::vector<RowKind>> ProveBatch(const Graph& graph,
                                                absl::Span<const Shape> request,
                                                int64_t rows,
                                                const GraphLimits& limits,
                                                HostEvaluator* evaluator) {
  // Not 1, which broadcasts, and two that differ.
  const std::array<int64_t, 2> batches = {rows == 2 ? 3 : 2, rows};
  std::array<Inference, 2> inferences;
  for (int size = 0; size < 2; ++size) {
    TENSORD_ASSIGN_OR_RETURN(const std::vector<Shape> shapes,
                             WithLeadingExtent(request, batches[size]));
    TENSORD_ASSIGN_OR_RETURN(inferences[size],
                             InferGraph(graph, shapes, {}, limits, evaluator));
    if (!inferences[size].open.empty()) {
      const Node& node = graph.nodes[inferences[size].open.front().node];
      return NotProven(
          absl::StrCat(Named(node), ": its shapes follow from the data"));
    }
  }
  return BatchProver(graph, std::move(inferences), batches).Prove();
}

}  // namespace tensord
