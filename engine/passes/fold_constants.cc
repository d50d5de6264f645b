#include "engine/passes/fold_constants.h"

#include <optional>
#include <utility>
#include <vector>

#include "engine/ops/op_def.h"
#include "engine/ops/op_table.h"

namespace tensord {
namespace {

class ConstantFolder {
 public:
  ConstantFolder(const Graph& graph, const Inference& inference,
                 HostEvaluator& evaluator, const GraphLimits& limits,
                 std::optional<OpKind> kept)
      : source_(graph),
        inference_(inference),
        evaluator_(evaluator),
        kept_(kept),
        bytes_left_(static_cast<uint64_t>(limits.max_folded_bytes)),
        folded_(graph) {}

  Graph Fold() {
    folded_.nodes.clear();
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
    absl::StatusOr<std::vector<HostTensor>> outputs =
        evaluator_.Evaluate(node, inputs, types, budget_);
    if (!outputs.ok()) return std::nullopt;
    Charge(added_bytes);
    return *std::move(outputs);
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
