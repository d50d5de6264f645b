#include "engine/passes/fuse_gelu.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "engine/passes/node_query.h"

namespace tensord {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752;
constexpr double kSqrtTwoOverPi = 0.79788456080286536;
constexpr double kCubic = 0.044715;

// A value as a product: a number, and values that are no products.
struct Product {
  double number = 1;
  std::vector<ValueId> factors;
  std::vector<NodeId> parts;  // the nodes that multiply

  bool IsOf(std::vector<ValueId> wanted) const {
    std::vector<ValueId> own = factors;
    std::sort(own.begin(), own.end());
    std::sort(wanted.begin(), wanted.end());
    return own == wanted;
  }
};

class GeluFuser {
 public:
  explicit GeluFuser(PassContext& context)
      : context_(context), graph_(context.graph) {}

  int Run() {
    int count = 0;
    for (NodeId id : graph_.nodes()) {
      if (!graph_.is_live(id)) continue;
      const OpKind op = graph_.node(id).op;
      if ((op == OpKind::kErf || op == OpKind::kTanh) && FuseAround(id)) {
        ++count;
      }
    }
    return count;
  }

 private:
  // More than any spelling has.
  static constexpr size_t kMaxFactors = 8;
  static constexpr int kMaxDepth = 6;

  bool FuseAround(NodeId function) {
    const Node& node = graph_.node(function);
    const bool is_tanh = node.op == OpKind::kTanh;
    std::vector<NodeId> parts = {function};
    const std::optional<ValueId> x = is_tanh ? FindTanhsX(node.inputs[0], parts)
                                             : FindErfsX(node.inputs[0], parts);
    if (!x.has_value()) return false;
    const NodeId sum = graph_.only_reader(node.outputs[0]);
    if (sum == kNoNode || graph_.node(sum).op != OpKind::kAdd ||
        KnownNumber(graph_, Other(sum, node.outputs[0])) != 1) {
      return false;
    }
    parts.push_back(sum);
    const ValueId gate = graph_.node(sum).outputs[0];
    // Up through the products that the gate goes into, until all is there.
    ValueId result = gate;
    for (int depth = 0; depth < kMaxDepth; ++depth) {
      const NodeId reader = graph_.only_reader(result);
      if (reader == kNoNode) return false;
      result = graph_.node(reader).outputs[0];
      Product product;
      if (!Multiply(result, {*x, gate}, 0, product)) return false;
      if (!IsNear(product.number, 0.5, *x) || !product.IsOf({*x, gate})) {
        continue;
      }
      parts.insert(parts.end(), product.parts.begin(), product.parts.end());
      return Make(*x, is_tanh, std::move(parts), result);
    }
    return false;
  }

  // x of x / sqrt(2).
  std::optional<ValueId> FindErfsX(ValueId argument,
                                   std::vector<NodeId>& parts) {
    const NodeId id = graph_.producer(argument);
    if (id == kNoNode) return std::nullopt;
    for (ValueId x : graph_.node(id).inputs) {
      Product product;
      if (x != kNoValue && Multiply(argument, {x}, 0, product) &&
          product.IsOf({x}) && IsNear(product.number, kSqrtHalf, x)) {
        parts.insert(parts.end(), product.parts.begin(), product.parts.end());
        return x;
      }
    }
    return std::nullopt;
  }

  // x of k * (x + c * x^3) or k * x * (1 + c * x^2).
  std::optional<ValueId> FindTanhsX(ValueId argument,
                                    std::vector<NodeId>& parts) {
    Product outer;
    if (!Multiply(argument, {}, 0, outer)) return std::nullopt;
    for (ValueId inner : outer.factors) {
      const NodeId sum = graph_.producer(inner);
      if (sum == kNoNode || graph_.node(sum).op != OpKind::kAdd) continue;
      const std::vector<ValueId> terms = graph_.node(sum).inputs;
      for (int i = 0; i < 2; ++i) {
        // With x taken out, x is whatever stands beside the sum.
        const bool is_taken_out = KnownNumber(graph_, terms[i]) == 1;
        std::vector<ValueId> candidates = {terms[i]};
        if (is_taken_out) candidates = outer.factors;
        for (ValueId x : candidates) {
          Product whole;
          Product power;
          if (!Multiply(argument, {x, inner}, 0, whole) ||
              !Multiply(terms[1 - i], {x}, 0, power) ||
              !IsNear(whole.number, kSqrtTwoOverPi, x) ||
              !IsNear(power.number, kCubic, x)) {
            continue;
          }
          const bool is_right =
              is_taken_out ? whole.IsOf({x, inner}) && power.IsOf({x, x})
                           : whole.IsOf({inner}) && power.IsOf({x, x, x});
          if (!is_right) continue;
          parts.push_back(sum);
          parts.insert(parts.end(), whole.parts.begin(), whole.parts.end());
          parts.insert(parts.end(), power.parts.begin(), power.parts.end());
          return x;
        }
      }
    }
    return std::nullopt;
  }

  // Takes a value apart; those in `stops` are factors even if they are products
  // themselves. False for more factors than any spelling has.
  bool Multiply(ValueId value, const std::vector<ValueId>& stops, int depth,
                Product& product) const {
    if (const auto number = KnownNumber(graph_, value)) {
      product.number *= *number;
      return true;
    }
    const NodeId id = graph_.producer(value);
    const bool is_stop =
        id == kNoNode || depth == kMaxDepth ||
        std::find(stops.begin(), stops.end(), value) != stops.end();
    if (!is_stop) {
      const Node& node = graph_.node(id);
      if (node.op == OpKind::kMul) {
        product.parts.push_back(id);
        return Multiply(node.inputs[0], stops, depth + 1, product) &&
               Multiply(node.inputs[1], stops, depth + 1, product);
      }
      const auto second = node.inputs.size() == 2
                              ? KnownNumber(graph_, node.inputs[1])
                              : std::nullopt;
      if (node.op == OpKind::kDiv && second.has_value() && *second != 0) {
        product.parts.push_back(id);
        product.number /= *second;
        return Multiply(node.inputs[0], stops, depth + 1, product);
      }
      if (node.op == OpKind::kPow && (second == 2.0 || second == 3.0)) {
        product.parts.push_back(id);
        for (int i = 0; i < *second; ++i) {
          if (!Multiply(node.inputs[0], stops, depth + 1, product)) {
            return false;
          }
        }
        return true;
      }
    }
    product.factors.push_back(value);
    return product.factors.size() <= kMaxFactors;
  }

  // As near as the graph's dtype can tell.
  bool IsNear(double number, double wanted, ValueId x) const {
    const DType dtype = graph_.type(x).dtype;
    const double relative = dtype == DType::kFloat16    ? 1e-3
                            : dtype == DType::kBFloat16 ? 8e-3
                                                        : 1e-5;
    return std::abs(number - wanted) <= relative * wanted;
  }

  bool Make(ValueId x, bool is_tanh, std::vector<NodeId> parts,
            ValueId result) {
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    if (!AreAlike(graph_, x, result) || !graph_.AreInternal(parts, {result})) {
      return false;
    }
    Node node =
        MakeNode(graph_.node(graph_.producer(result)), OpKind::kGelu,
                 GeluParams{.approximates_by_tanh = is_tanh}, {x}, {result});
    if (!context_.HasKernel(node)) return false;
    graph_.Fuse(parts, std::move(node));
    return true;
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

int FuseGelu(PassContext& context) { return GeluFuser(context).Run(); }

}  // namespace tensord
