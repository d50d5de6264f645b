#include "engine/passes/fuse_layer_norm.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/passes/channel_affine.h"
#include "engine/passes/node_query.h"

namespace tensord {
namespace {

// What of a normalization is found so far: it grows along the nodes.
struct Found {
  ValueId x = kNoValue;
  ValueId mean = kNoValue;     // none for RMSNormalization
  ValueId centred = kNoValue;  // x - mean, or x
  int first_axis = 0;          // reduced are the dimensions from it on
  double epsilon = 0;
  ValueId scale = kNoValue;
  ValueId bias = kNoValue;
  ValueId result = kNoValue;
  std::vector<NodeId> parts;
};

class LayerNormFuser {
 public:
  explicit LayerNormFuser(PassContext& context)
      : context_(context), graph_(context.graph) {}

  int Run() {
    int count = 0;
    for (NodeId id : graph_.nodes()) {
      if (graph_.is_live(id) && FuseAround(id)) ++count;
    }
    return count;
  }

 private:
  // The pattern around `variance`, the mean of the squares.
  bool FuseAround(NodeId variance) {
    Found found;
    if (!IsMeanOfSquares(variance, found)) return false;
    if (found.x == kNoValue || !FindDeviation(variance, found)) return false;
    std::sort(found.parts.begin(), found.parts.end());
    found.parts.erase(std::unique(found.parts.begin(), found.parts.end()),
                      found.parts.end());
    if (!graph_.AreInternal(found.parts, {found.result})) return false;
    return Make(std::move(found));
  }

  // ReduceMean over the last dimensions, which stay as ones.
  bool IsMean(NodeId id, Found& found) const {
    const Node& node = graph_.node(id);
    if (node.op != OpKind::kReduceMean ||
        !std::get<ReduceParams>(node.params).keep_dims) {
      return false;
    }
    const auto& shape = graph_.type(node.inputs[0]).shape;
    if (!shape.has_value() || shape->empty()) return false;
    const auto rank = static_cast<int64_t>(shape->size());
    Dims axes;
    if (node.inputs.size() > 1 && node.inputs[1] != kNoValue) {
      const std::optional<Dims> known = KnownInts(graph_, node.inputs[1]);
      if (!known.has_value() || known->empty()) return false;
      axes = *known;
    } else {
      return false;
    }
    for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
    std::sort(axes.begin(), axes.end());
    const auto first = rank - static_cast<int64_t>(axes.size());
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] != first + static_cast<int64_t>(i)) return false;
    }
    if (found.mean != kNoValue && found.first_axis != first) return false;
    found.first_axis = static_cast<int>(first);
    return true;
  }

  bool IsMeanOfSquares(NodeId id, Found& found) {
    if (!IsMean(id, found)) return false;
    const NodeId square = graph_.producer(graph_.node(id).inputs[0]);
    if (square == kNoNode) return false;
    const Node& node = graph_.node(square);
    std::vector<ValueId> roots;
    if (node.op == OpKind::kMul) {
      roots = node.inputs;
    } else if (node.op == OpKind::kPow &&
               KnownNumber(graph_, node.inputs[1]) == 2) {
      roots = {node.inputs[0]};
    } else {
      return false;
    }
    found.parts = {square, id};
    // Both factors may be differences of their own.
    found.centred = roots[0];
    Centre(roots[0], found);
    return std::all_of(roots.begin(), roots.end(),
                       [&](ValueId root) { return IsCentred(root, found); });
  }

  // x - mean of x; else it is x itself whose squares are taken.
  void Centre(ValueId value, Found& found) {
    found.x = value;
    const Node* difference = MadeBy(graph_, value, OpKind::kSub);
    if (difference == nullptr) return;
    const NodeId mean = graph_.producer(difference->inputs[1]);
    Found same = found;
    same.mean = difference->inputs[1];
    if (mean == kNoNode || !IsMean(mean, same) ||
        graph_.node(mean).inputs[0] != difference->inputs[0]) {
      return;
    }
    found.x = difference->inputs[0];
    found.mean = difference->inputs[1];
  }

  // Whether a value is what `found` takes the squares of, perhaps computed once
  // more; its nodes become parts.
  bool IsCentred(ValueId value, Found& found) {
    if (found.mean == kNoValue) return value == found.x;
    const Node* difference = MadeBy(graph_, value, OpKind::kSub);
    if (difference == nullptr || difference->inputs[0] != found.x ||
        !IsMeanOfX(difference->inputs[1], found)) {
      return false;
    }
    found.parts.push_back(graph_.producer(value));
    return true;
  }

  bool IsMeanOfX(ValueId value, Found& found) {
    const NodeId id = graph_.producer(value);
    if (id == kNoNode || !IsMean(id, found) ||
        graph_.node(id).inputs[0] != found.x) {
      return false;
    }
    found.parts.push_back(id);
    return true;
  }

  // v + epsilon, its root, and what is divided by it.
  bool FindDeviation(NodeId variance, Found& found) {
    const NodeId sum = Only(graph_.node(variance).outputs[0], OpKind::kAdd);
    if (sum == kNoNode) return false;
    const auto epsilon =
        KnownNumber(graph_, Other(sum, graph_.node(variance).outputs[0]));
    if (!epsilon.has_value() || !(*epsilon >= 0)) return false;
    found.epsilon = *epsilon;
    found.parts.push_back(sum);
    const ValueId shifted = graph_.node(sum).outputs[0];

    if (const NodeId power = Only(shifted, OpKind::kPow); power != kNoNode) {
      if (graph_.node(power).inputs[0] != shifted) return false;
      const auto exponent = KnownNumber(graph_, graph_.node(power).inputs[1]);
      found.parts.push_back(power);
      const ValueId result = graph_.node(power).outputs[0];
      if (exponent == 0.5) return FindQuotient(result, found);
      return exponent == -0.5 && FindProduct(result, found);
    }
    const NodeId root = Only(shifted, OpKind::kSqrt);
    if (root == kNoNode) return false;
    found.parts.push_back(root);
    return FindQuotient(graph_.node(root).outputs[0], found);
  }

  // centred / s, or the inverse of s on its way into a product.
  bool FindQuotient(ValueId deviation, Found& found) {
    const NodeId reader = graph_.only_reader(deviation);
    if (reader == kNoNode) return false;
    const Node& node = graph_.node(reader);
    if (node.op == OpKind::kReciprocal ||
        (node.op == OpKind::kDiv && node.inputs[1] == deviation &&
         KnownNumber(graph_, node.inputs[0]) == 1)) {
      if (!AreAlike(graph_, node.outputs[0], deviation)) return false;
      found.parts.push_back(reader);
      return FindProduct(node.outputs[0], found);
    }
    if (node.op != OpKind::kDiv || node.inputs[1] != deviation ||
        !IsCentred(node.inputs[0], found)) {
      return false;
    }
    found.parts.push_back(reader);
    return FindAffine(node.outputs[0], found);
  }

  // centred * i, or scale * i as TensorFlow has it.
  bool FindProduct(ValueId inverse, Found& found) {
    const NodeId product = Only(inverse, OpKind::kMul);
    if (product == kNoNode) return false;
    found.parts.push_back(product);
    const ValueId other = Other(product, inverse);
    const ValueId result = graph_.node(product).outputs[0];
    if (IsCentred(other, found)) return FindAffine(result, found);
    if (found.mean == kNoValue) {
      // x * (i * scale)
      found.scale = other;
      const NodeId last = Only(result, OpKind::kMul);
      if (last == kNoNode || Other(last, result) != found.x) return false;
      found.parts.push_back(last);
      return Finish(graph_.node(last).outputs[0], found);
    }
    found.scale = other;
    return FindExpanded(result, found);
  }

  // x * i + (bias - mean * i)
  bool FindExpanded(ValueId inverse, Found& found) {
    ValueId term = kNoValue;   // x * i
    ValueId shift = kNoValue;  // mean * i
    const std::vector<NodeId> readers = graph_.readers(inverse);
    if (readers.size() != 2) return false;
    for (NodeId reader : readers) {
      const Node& node = graph_.node(reader);
      if (node.op != OpKind::kMul) return false;
      const ValueId other = Other(reader, inverse);
      if (other == found.x && term == kNoValue) {
        term = node.outputs[0];
      } else if (other != kNoValue && IsMeanOfX(other, found)) {
        shift = node.outputs[0];
      } else {
        return false;
      }
      found.parts.push_back(reader);
    }
    if (term == kNoValue || shift == kNoValue) return false;
    const NodeId difference = Only(shift, OpKind::kSub);
    const NodeId sum = Only(term, OpKind::kAdd);
    if (difference == kNoNode || sum == kNoNode ||
        graph_.node(difference).inputs[1] != shift ||
        Other(sum, term) != graph_.node(difference).outputs[0]) {
      return false;
    }
    found.bias = graph_.node(difference).inputs[0];
    found.parts.push_back(difference);
    found.parts.push_back(sum);
    return Finish(graph_.node(sum).outputs[0], found);
  }

  // Behind the normalised value: a product by the scale, a sum with the bias.
  bool FindAffine(ValueId normalised, Found& found) {
    ValueId result = normalised;
    const NodeId product = Only(result, OpKind::kMul);
    if (product != kNoNode && Fits(Other(product, result), found)) {
      found.scale = Other(product, result);
      found.parts.push_back(product);
      result = graph_.node(product).outputs[0];
    }
    const NodeId sum =
        found.mean == kNoValue ? kNoNode : Only(result, OpKind::kAdd);
    if (sum != kNoNode && Fits(Other(sum, result), found)) {
      found.bias = Other(sum, result);
      found.parts.push_back(sum);
      result = graph_.node(sum).outputs[0];
    }
    return Finish(result, found);
  }

  bool Finish(ValueId result, Found& found) const {
    found.result = result;
    return AreAlike(graph_, result, found.x) &&
           (found.scale == kNoValue || Fits(found.scale, found)) &&
           (found.bias == kNoValue || Fits(found.bias, found));
  }

  // Of x's dtype, and no more than one element for each of the dimensions that
  // are normalised.
  bool Fits(ValueId value, const Found& found) const {
    if (value == kNoValue) return false;
    const TensorType& own = graph_.type(value);
    const TensorType& x = graph_.type(found.x);
    if (own.dtype != x.dtype || !own.shape.has_value()) return false;
    const size_t normalised = x.shape->size() - found.first_axis;
    if (own.shape->size() > x.shape->size()) return false;
    for (size_t d = 1; d <= own.shape->size(); ++d) {
      const Dim extent = (*own.shape)[own.shape->size() - d];
      if (extent == Dim::Known(1)) continue;
      if (d > normalised || extent != (*x.shape)[x.shape->size() - d]) {
        return false;
      }
    }
    return true;
  }

  bool Make(Found found) {
    const bool has_mean = found.mean != kNoValue;
    if (found.scale == kNoValue) {
      const Dim last = graph_.type(found.x).shape->back();
      if (!last.is_known()) return false;
      const int64_t columns = last.extent();
      if (!context_.Charge(ByteSize(graph_.type(found.x).dtype, columns))) {
        return false;
      }
      found.scale = graph_.AddConstant(
          FloatTensor(graph_.type(found.x).dtype, Shape({columns}),
                      std::vector<double>(columns, 1)),
          found.x);
    }
    NormalizationParams params;
    params.epsilon = static_cast<float>(found.epsilon);
    params.axis = found.first_axis;
    std::vector<ValueId> inputs = {found.x, found.scale};
    if (found.bias != kNoValue) inputs.push_back(found.bias);
    Node node = MakeNode(
        graph_.node(graph_.producer(found.result)),
        has_mean ? OpKind::kLayerNormalization : OpKind::kRMSNormalization,
        params, std::move(inputs), {found.result});
    if (!context_.HasKernel(node)) return false;
    graph_.Fuse(found.parts, std::move(node));
    return true;
  }

  // The only reader of a value, if it is of this kind.
  NodeId Only(ValueId value, OpKind op) {
    const NodeId reader = graph_.only_reader(value);
    return reader != kNoNode && graph_.node(reader).op == op ? reader : kNoNode;
  }

  // The operand of a node with two that is not `value`.
  ValueId Other(NodeId id, ValueId value) const {
    const std::vector<ValueId>& inputs = graph_.node(id).inputs;
    if (inputs.size() != 2 || inputs[0] == inputs[1]) return kNoValue;
    return inputs[inputs[0] == value ? 1 : 0];
  }

  PassContext& context_;
  GraphEditor& graph_;
};

}  // namespace

int FuseLayerNorm(PassContext& context) {
  return LayerNormFuser(context).Run();
}

}  // namespace tensord
