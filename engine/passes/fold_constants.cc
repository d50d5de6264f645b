#include "engine/passes/fold_constants.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/graph/constant_memo.h"
#include "engine/ops/op_def.h"
#include "engine/ops/op_table.h"

namespace tensord {
namespace {

// All that the node's one output depends on but its inputs' bytes. Nothing for
// nodes that are not remembered: those whose weights are small, or rare.
std::optional<std::string> OperationOf(const Node& node,
                                       const std::vector<HostTensor>& inputs) {
  if (node.outputs.size() != 1 || node.params.epilogue != nullptr) {
    return std::nullopt;
  }
  std::string operation = absl::StrCat("fold ", OpKindName(node.op));
  if (const auto* transpose = std::get_if<TransposeParams>(&node.params)) {
    absl::StrAppend(&operation, " ",
                    absl::StrJoin(transpose->permutation, ","));
  } else if (const auto* cast = std::get_if<CastParams>(&node.params)) {
    absl::StrAppend(&operation, " ", DTypeName(cast->to), cast->saturates,
                    static_cast<int>(cast->rounding));
  } else if (const auto* quantize = std::get_if<QuantizeParams>(&node.params)) {
    absl::StrAppend(&operation, " ", quantize->axis, ",", quantize->block_size,
                    DTypeName(quantize->output_dtype),
                    DTypeName(quantize->precision), quantize->saturates);
  } else if (!std::holds_alternative<NoParams>(node.params)) {
    return std::nullopt;
  }
  for (const HostTensor& input : inputs) {
    absl::StrAppend(&operation, " ", DTypeName(input.dtype()),
                    input.shape().ToString());
  }
  return operation;
}

class ConstantFolder {
 public:
  ConstantFolder(const Graph& graph, const Inference& inference,
                 HostEvaluator& evaluator, const GraphLimits& limits,
                 std::optional<OpKind> kept)
      : source_(graph),
        inference_(inference),
        evaluator_(evaluator),
        kept_(kept),
        bytes_left_(static_cast<uint64_t>(limits.max_folded_bytes)) {
    folded_.name = graph.name;
    folded_.values = graph.values;
    folded_.inputs = graph.inputs;
    folded_.outputs = graph.outputs;
    folded_.symbols = graph.symbols;
    folded_.memo = graph.memo;
    folded_.nodes.reserve(graph.nodes.size());
  }

  Graph Fold() {
    for (const Node& node : source_.nodes) {
      if (std::optional<std::vector<HostTensor>> outputs = ValuesOf(node)) {
        for (size_t i = 0; i < node.outputs.size(); ++i) {
          SetConstant(node.outputs[i], std::move((*outputs)[i]));
        }
      } else {
        Keep(node);
      }
    }
    return std::move(folded_);
  }

 private:
  void Keep(const Node& node) {
    const auto id = static_cast<NodeId>(folded_.nodes.size());
    for (ValueId output : node.outputs) {
      if (output != kNoValue) folded_.values[output].producer = id;
    }
    folded_.nodes.push_back(node);
  }

  void SetConstant(ValueId id, HostTensor tensor) {
    if (id == kNoValue) return;
    Value& value = folded_.values[id];
    value.producer = kNoNode;
    value.type = {tensor.dtype(), ToSymbolic(tensor.shape())};
    value.constant = std::move(tensor);
  }

  // The node's outputs if they can be had ahead of any run and within the
  // limit.
  std::optional<std::vector<HostTensor>> ValuesOf(const Node& node) {
    if (node.op == kept_) return std::nullopt;
    const OpDef* op_def = FindOpDef(node.op);
    if (op_def == nullptr || !op_def->is_pure) return std::nullopt;

    std::vector<Shape> shapes;
    std::vector<TensorType> types;
    uint64_t added_bytes = 0;
    for (ValueId id : node.outputs) {
      // The evaluator has no place for an output that has no value.
      if (id == kNoValue) return std::nullopt;
      const TensorType& type = inference_.types[id];
      if (!type.shape.has_value() || !IsKnown(*type.shape)) return std::nullopt;
      absl::StatusOr<Shape> shape = ToConcrete(*type.shape);
      if (!shape.ok()) return std::nullopt;
      added_bytes += ByteSize(type.dtype, shape->element_count());
      types.push_back(type);
      shapes.push_back(*std::move(shape));
    }

    const bool is_view = op_def->is_view && node.outputs.size() == 1;
    if (std::optional<std::vector<HostTensor>> known = InferredValues(node)) {
      return Charge(is_view ? 0 : added_bytes) ? std::move(known)
                                               : std::nullopt;
    }
    std::vector<HostTensor> inputs;
    for (ValueId id : node.inputs) {
      if (id == kNoValue) {
        inputs.emplace_back();
        continue;
      }
      const HostTensor& constant = folded_.values[id].constant;
      if (!constant.is_present()) return std::nullopt;
      inputs.push_back(constant);
    }
    if (is_view) {
      if (inputs[0].shape().element_count() != shapes[0].element_count()) {
        return std::nullopt;
      }
      return std::vector<HostTensor>{inputs[0].Reshaped(shapes[0])};
    }
    if (added_bytes > bytes_left_) return std::nullopt;
    std::optional<std::vector<HostTensor>> outputs =
        Compute(node, inputs, types);
    if (outputs.has_value()) Charge(added_bytes);
    return outputs;
  }

  // A weight that is folded is the same for all shapes that the graph is
  // compiled for: it is made once, and held once.
  std::optional<std::vector<HostTensor>> Compute(
      const Node& node, const std::vector<HostTensor>& inputs,
      const std::vector<TensorType>& types) {
    const auto evaluate = [&]() -> std::optional<std::vector<HostTensor>> {
      absl::StatusOr<std::vector<HostTensor>> outputs =
          evaluator_.Evaluate(node, inputs, types, budget_);
      if (!outputs.ok()) return std::nullopt;
      return *std::move(outputs);
    };
    const std::optional<std::string> operation = OperationOf(node, inputs);
    if (source_.memo == nullptr || !operation.has_value()) return evaluate();
    double work = 0;
    bool is_made = false;
    HostTensor result = source_.memo->Get(
        *operation, inputs,
        [&] {
          is_made = true;
          const double before = budget_.work;
          std::optional<std::vector<HostTensor>> outputs = evaluate();
          work = before - budget_.work;
          return outputs.has_value() ? std::move(outputs->front())
                                     : HostTensor();
        },
        &work);
    if (!result.is_present()) return std::nullopt;
    if (!is_made) {
      if (work > budget_.work) return std::nullopt;
      budget_.work -= work;
    }
    return std::vector<HostTensor>{std::move(result)};
  }

  // What inference knows already: shapes, and arithmetic on them.
  std::optional<std::vector<HostTensor>> InferredValues(
      const Node& node) const {
    std::vector<HostTensor> values;
    for (ValueId id : node.outputs) {
      if (!inference_.constants[id].is_present()) return std::nullopt;
      values.push_back(inference_.constants[id]);
    }
    return values;
  }

  bool Charge(uint64_t bytes) {
    if (bytes > bytes_left_) return false;
    bytes_left_ -= bytes;
    return true;
  }

  const Graph& source_;
  const Inference& inference_;
  HostEvaluator& evaluator_;
  const std::optional<OpKind> kept_;
  uint64_t bytes_left_;
  EvaluationBudget budget_;
  Graph folded_;
};

}  // namespace

Graph FoldConstants(const Graph& graph, const Inference& inference,
                    HostEvaluator& evaluator, const GraphLimits& limits,
                    std::optional<OpKind> kept) {
  return ConstantFolder(graph, inference, evaluator, limits, kept).Fold();
}

}  // namespace tensord
