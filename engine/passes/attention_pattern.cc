#include "engine/passes/attention_pattern.h"

#include <cmath>
#include <utility>

#include "engine/passes/node_query.h"

namespace tensord {
namespace {

class Finder {
 public:
  explicit Finder(GraphEditor& graph) : graph_(graph) {}

  std::optional<AttentionPattern> Find(NodeId softmax) {
    if (!IsOverLastDimension(softmax)) return std::nullopt;
    found_.parts.push_back(softmax);
    const ValueId weights = graph_.node(softmax).outputs[0];
    const NodeId product = graph_.only_reader(weights);
    if (product == kNoNode || !IsProduct(product) ||
        graph_.node(product).inputs[0] != weights) {
      return std::nullopt;
    }
    found_.parts.push_back(product);
    found_.v = graph_.node(product).inputs[1];
    found_.y = graph_.node(product).outputs[0];
    if (!FindScores(graph_.node(softmax).inputs[0])) return std::nullopt;
    FindKeys();
    if (!DimensionsFit() || !(found_.scale > 0) ||
        !std::isfinite(static_cast<float>(found_.scale))) {
      return std::nullopt;
    }
    return std::move(found_);
  }

 private:
  bool IsOverLastDimension(NodeId softmax) const {
    const Node& node = graph_.node(softmax);
    if (node.op != OpKind::kSoftmax) return false;
    const auto& params = std::get<SoftmaxParams>(node.params);
    const auto& shape = graph_.type(node.inputs[0]).shape;
    if (!shape.has_value() || shape->size() < 3 || shape->size() > 4) {
      return false;
    }
    // At the last axis, the older form that sees a matrix is the same.
    const auto rank = static_cast<int64_t>(shape->size());
    return (params.axis < 0 ? params.axis + rank : params.axis) == rank - 1;
  }

  bool IsProduct(NodeId id) const {
    const Node& node = graph_.node(id);
    return node.op == OpKind::kMatMul && node.params.epilogue == nullptr;
  }

  // What only one of the pattern's nodes reads.
  bool IsInner(ValueId value) const {
    return graph_.producer(value) != kNoNode && graph_.read_count(value) == 1 &&
           !graph_.is_output(value);
  }

  // The product, under a scale and a mask.
  bool FindScores(ValueId scores) {
    if (FindProduct(scores)) return true;
    if (!IsInner(scores)) return false;
    const NodeId id = graph_.producer(scores);
    const Node& sum = graph_.node(id);
    if (sum.op != OpKind::kAdd) return false;
    for (int i = 0; i < 2; ++i) {
      if (!MaskFits(sum.inputs[1 - i], sum.inputs[i]) ||
          !FindProduct(sum.inputs[i])) {
        continue;
      }
      found_.mask = sum.inputs[1 - i];
      found_.parts.push_back(id);
      return true;
    }
    return false;
  }

  bool FindProduct(ValueId value) {
    AttentionPattern attempt = found_;
    value = SkipScale(value, attempt);
    if (!IsInner(value) || !IsProduct(graph_.producer(value))) return false;
    const Node& product = graph_.node(graph_.producer(value));
    attempt.parts.push_back(graph_.producer(value));
    attempt.q = SkipScale(product.inputs[0], attempt);
    attempt.k_transposed = SkipScale(product.inputs[1], attempt);
    found_ = std::move(attempt);
    return true;
  }

  // Takes products and quotients by numbers into the scale; what is left.
  ValueId SkipScale(ValueId value, AttentionPattern& attempt) const {
    while (IsInner(value)) {
      const NodeId id = graph_.producer(value);
      const Node& node = graph_.node(id);
      const bool is_quotient = node.op == OpKind::kDiv;
      if (!is_quotient && node.op != OpKind::kMul) break;
      const auto right = KnownNumber(graph_, node.inputs[1]);
      const auto left =
          is_quotient ? std::nullopt : KnownNumber(graph_, node.inputs[0]);
      if (!right.has_value() && !left.has_value()) break;
      const ValueId rest = node.inputs[right.has_value() ? 0 : 1];
      if (!AreAlike(graph_, rest, value)) break;
      attempt.scale *= is_quotient         ? 1 / *right
                       : right.has_value() ? *right
                                           : *left;
      attempt.parts.push_back(id);
      value = rest;
    }
    return value;
  }

  // What the transposed keys are made of.
  void FindKeys() {
    if (!IsInner(found_.k_transposed)) return;
    const NodeId id = graph_.producer(found_.k_transposed);
    const Node& node = graph_.node(id);
    const auto& shape = *graph_.type(found_.k_transposed).shape;
    if (IsTransposeBy(node,
                      shape.size() == 4 ? Dims{0, 1, 3, 2} : Dims{0, 2, 1})) {
      found_.parts.push_back(id);
      found_.k = SkipScale(node.inputs[0], found_);
    } else if (IsTransposeBy(node, {0, 2, 3, 1})) {
      found_.k_unmoved = node.inputs[0];
    }
  }

  const SymbolicShape& ShapeOf(ValueId value) const {
    return *graph_.type(value).shape;
  }

  // Broadcasts to the scores, and has as many keys: a mask with one would stand
  // for all.
  bool MaskFits(ValueId mask, ValueId scores) const {
    const TensorType& own = graph_.type(mask);
    const TensorType& whole = graph_.type(scores);
    if (own.dtype != whole.dtype || !own.shape.has_value() ||
        !whole.shape.has_value() || own.shape->empty() ||
        own.shape->size() > whole.shape->size() ||
        own.shape->back() != whole.shape->back()) {
      return false;
    }
    for (size_t d = 1; d <= own.shape->size(); ++d) {
      const Dim extent = (*own.shape)[own.shape->size() - d];
      if (extent != Dim::Known(1) &&
          extent != (*whole.shape)[whole.shape->size() - d]) {
        return false;
      }
    }
    return true;
  }

  // No dimension of the batch broadcasts, but for keys' and values' heads.
  bool DimensionsFit() const {
    const SymbolicShape& q = ShapeOf(found_.q);
    const SymbolicShape& k = ShapeOf(found_.k_transposed);
    const SymbolicShape& v = ShapeOf(found_.v);
    if (q.size() != k.size() || q.size() != v.size() ||
        (q.size() != 4 && q.size() != 3)) {
      return false;
    }
    if (graph_.type(found_.q).dtype != graph_.type(found_.v).dtype)
      return false;
    if (q[0] != k[0] || q[0] != v[0]) return false;
    if (q.size() == 4 &&
        (k[1] != v[1] || (k[1] != q[1] && k[1] != Dim::Known(1)))) {
      return false;
    }
    return q.back() == k[k.size() - 2] && k.back() == v[v.size() - 2];
  }

  GraphEditor& graph_;
  AttentionPattern found_;
};

// Which of the elements of dimension 0 a Slice or a Gather takes, if it is one.
std::optional<int64_t> IndexOf(const GraphEditor& graph, const Node& node) {
  const auto number = [&](size_t i) -> std::optional<int64_t> {
    if (i >= node.inputs.size()) return std::nullopt;
    const std::optional<Dims> ints = KnownInts(graph, node.inputs[i]);
    if (!ints.has_value() || ints->size() != 1) return std::nullopt;
    return ints->front();
  };
  if (node.op == OpKind::kGather) {
    return std::get<AxisParams>(node.params).axis == 0 ? number(1)
                                                       : std::nullopt;
  }
  if (node.op != OpKind::kSlice || number(3) != 0 ||
      (node.inputs.size() > 4 && number(4) != 1)) {
    return std::nullopt;
  }
  const std::optional<int64_t> start = number(1);
  const std::optional<int64_t> end = number(2);
  if (!start.has_value() || !end.has_value() || *start + 1 != *end) {
    return std::nullopt;
  }
  return start;
}

}  // namespace

std::optional<AttentionPattern> FindAttention(GraphEditor& graph,
                                              NodeId softmax) {
  return Finder(graph).Find(softmax);
}

std::optional<AttentionSlice> FindSlice(const GraphEditor& graph,
                                        ValueId value) {
  AttentionSlice found;
  // A value goes with its reader when that is its only one.
  const auto take = [&](ValueId made, int64_t readers) {
    if (graph.read_count(made) == readers) {
      found.parts.push_back(graph.producer(made));
    }
  };
  NodeId id = graph.producer(value);
  if (id == kNoNode) return std::nullopt;
  take(value, 1);
  if (IsView(graph.node(id))) {  // Squeeze
    value = graph.node(id).inputs[0];
    id = graph.producer(value);
    if (id == kNoNode) return std::nullopt;
    take(value, 1);
  }
  const std::optional<int64_t> index = IndexOf(graph, graph.node(id));
  if (!index.has_value() || *index < 0 || *index > 2) return std::nullopt;
  found.index = *index;
  const ValueId moved = graph.node(id).inputs[0];
  id = graph.producer(moved);
  if (id == kNoNode || !IsTransposeBy(graph.node(id), {2, 0, 3, 1, 4})) {
    return std::nullopt;
  }
  take(moved, 3);
  const ValueId unmoved = graph.node(id).inputs[0];
  id = graph.producer(unmoved);
  const std::optional<Shape> shape = graph.shape(unmoved);
  if (id == kNoNode || !IsView(graph.node(id)) || !shape.has_value() ||
      (*shape)[2] != 3) {
    return std::nullopt;
  }
  take(unmoved, 1);
  found.whole = graph.node(id).inputs[0];
  const std::optional<Shape> whole = graph.shape(found.whole);
  if (!whole.has_value() || whole->rank() != 3 || (*whole)[0] != (*shape)[0] ||
      (*whole)[1] != (*shape)[1]) {
    return std::nullopt;
  }
  return found;
}

bool IsTransposeBy(const Node& node, const Dims& permutation) {
  return node.op == OpKind::kTranspose &&
         std::get<TransposeParams>(node.params).permutation == permutation;
}

}  // namespace tensord
