#include "engine/passes/node_query.h"

#include <utility>

#include "engine/ops/op_def.h"
#include "engine/ops/op_table.h"
#include "engine/passes/expression_step.h"

namespace tensord {

bool IsView(const Node& node) {
  const OpDef* def = FindOpDef(node.op);
  return def != nullptr && def->is_view && node.outputs.size() == 1;
}

bool IsContraction(OpKind op) {
  return op == OpKind::kConv || op == OpKind::kConvTranspose ||
         op == OpKind::kGemm || op == OpKind::kMatMul;
}

const Node* MadeBy(const GraphEditor& graph, ValueId value, OpKind op) {
  const NodeId id = value == kNoValue ? kNoNode : graph.producer(value);
  if (id == kNoNode || graph.node(id).op != op) return nullptr;
  return &graph.node(id);
}

std::optional<Dims> KnownInts(const GraphEditor& graph, ValueId value) {
  if (value == kNoValue) return std::nullopt;
  const HostTensor& tensor = graph.constant(value);
  if (!tensor.is_present() || tensor.shape().element_count() > 4 * kMaxRank) {
    return std::nullopt;
  }
  if (tensor.dtype() == DType::kInt64) {
    const auto values = tensor.values<int64_t>();
    return Dims(values.begin(), values.end());
  }
  if (tensor.dtype() == DType::kInt32) {
    const auto values = tensor.values<int32_t>();
    return Dims(values.begin(), values.end());
  }
  return std::nullopt;
}

std::optional<double> KnownNumber(const GraphEditor& graph, ValueId value) {
  return KnownScalar(graph.inference(), value);
}

bool AreAlike(const GraphEditor& graph, ValueId a, ValueId b) {
  const TensorType& x = graph.type(a);
  const TensorType& y = graph.type(b);
  return x.dtype == y.dtype && x.shape.has_value() && x.shape == y.shape;
}

Dims PermutationOf(const GraphEditor& graph, const Node& node) {
  Dims permutation = std::get<TransposeParams>(node.params).permutation;
  if (permutation.empty()) {
    const size_t rank = graph.type(node.inputs[0]).shape->size();
    for (size_t d = rank; d-- > 0;) {
      permutation.push_back(static_cast<int64_t>(d));
    }
  }
  return permutation;
}

Node MakeNode(const Node& origin, OpKind op, OpParams params,
              std::vector<ValueId> inputs, std::vector<ValueId> outputs) {
  Node node;
  node.name = origin.name;
  node.op = op;
  node.params = std::move(params);
  node.inputs = std::move(inputs);
  node.own_input_count = static_cast<int>(node.inputs.size());
  node.outputs = std::move(outputs);
  return node;
}

}  // namespace tensord
