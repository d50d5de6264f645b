#include "engine/passes/fuse_qdq.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/passes/expression_step.h"
#include "engine/passes/node_query.h"
#include "engine/passes/quantized_chain.h"
#include "engine/passes/quantized_product.h"
#include "engine/passes/quantized_value.h"

namespace tensord {
namespace {

// Whether the elements of the operator's result are elements of its inputs, or
// the largest of some: the same for integers as for what they stand for.
bool MovesElements(OpKind op) {
  switch (op) {
    case OpKind::kConcat:
    case OpKind::kDepthToSpace:
    case OpKind::kExpand:
    case OpKind::kFlatten:
    case OpKind::kGather:
    case OpKind::kIdentity:
    case OpKind::kMaxPool:
    case OpKind::kReshape:
    case OpKind::kSlice:
    case OpKind::kSpaceToDepth:
    case OpKind::kSqueeze:
    case OpKind::kTile:
    case OpKind::kTranspose:
    case OpKind::kUnsqueeze:
      return true;
    default:
      return false;
  }
}

// Relu and Clip behind a value, up to a QuantizeLinear: f(v) is v brought to
// [low, high].
struct Tail {
  ValueId value;
  NodeId reader;               // of the value, if nobody else reads it
  std::vector<NodeId> bounds;  // the nodes, the last one first
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

class QdqFuser {
 public:
  explicit QdqFuser(PassContext& context)
      : context_(context), graph_(context.graph) {}

  int Run() {
    int count = 0;
    for (NodeId id : graph_.nodes()) {
      if (!graph_.is_live(id) ||
          graph_.node(id).op != OpKind::kQuantizeLinear) {
        continue;
      }
      const auto to = QuantizationOf(graph_, graph_.node(id));
      if (!to.has_value()) continue;
      if (RemoveRoundTrip(id, *to) || MoveIntegers(id, *to) ||
          FuseProduct(id, *to) || FuseChain(id, *to)) {
        ++count;
      }
    }
    return count;
  }

 private:
  // Integers that are quantized as they were.
  bool RemoveRoundTrip(NodeId id, const Quantization& to) {
    const Node& node = graph_.node(id);
    const auto x = QuantizedValueOf(graph_, node.inputs[0]);
    if (!x.has_value() || !x->quantization.IsAs(to) ||
        graph_.is_output(node.outputs[0])) {
      return false;
    }
    graph_.Redirect(node.outputs[0], x->integers);
    graph_.Remove(id);
    return true;
  }

  bool MoveIntegers(NodeId id, const Quantization& to) {
    const Node& quantize = graph_.node(id);
    const ValueId moved = quantize.inputs[0];
    const NodeId mover = graph_.producer(moved);
    if (mover == kNoNode || graph_.only_reader(moved) != id) return false;
    Node node = graph_.node(mover);
    if (!MovesElements(node.op) || node.outputs.size() != 1) return false;
    std::vector<NodeId> parts = {id, mover};
    const size_t count = node.op == OpKind::kConcat ? node.inputs.size() : 1;
    for (size_t i = 0; i < count; ++i) {
      const auto x = QuantizedValueOf(graph_, node.inputs[i]);
      if (!x.has_value() || !x->quantization.IsAs(to)) return false;
      AddIfOwn(x->node, mover, parts);
      node.inputs[i] = x->integers;
    }
    node.outputs = quantize.outputs;
    if (!IsView(node) && !context_.HasKernel(node)) return false;
    graph_.Fuse(parts, std::move(node));
    return true;
  }

  bool FuseProduct(NodeId id, const Quantization& to) {
    const Tail tail = TailOf(id);
    const NodeId anchor = graph_.producer(tail.value);
    if (anchor == kNoNode || graph_.only_reader(tail.value) != tail.reader) {
      return false;
    }
    auto product = QuantizedProductOf(context_, anchor, to);
    if (!product.has_value()) return false;
    const ValueId y = graph_.node(id).outputs[0];
    ValueId result = y;  // the node's own
    if (product->views.has_value()) {
      result = graph_.AddValue(
          {to.dtype, ToSymbolic(product->views->result_shape)}, y);
    }
    product->node.outputs = {result};
    if (!context_.HasKernel(product->node)) return false;

    std::vector<NodeId> parts = {anchor};
    for (NodeId node : product->dequantizers) AddIfOwn(node, anchor, parts);
    std::vector<NodeId> behind = tail.bounds;
    behind.push_back(id);
    const int32_t least = to.IntegerOf(tail.low);
    const int32_t most = to.IntegerOf(tail.high);
    ValueId unbounded = y;
    if (least == to.least() && most == to.most()) {
      parts.insert(parts.end(), behind.begin(), behind.end());
    } else {
      Node bounds =
          MakeNode(graph_.node(tail.bounds[0]), OpKind::kElementwiseChain,
                   BoundsExpression(to, least, most), {y}, {y});
      if (!context_.HasKernel(bounds)) return false;
      unbounded = graph_.AddValue(graph_.type(y), y);
      bounds.inputs = {unbounded};
      if (!product->views.has_value()) product->node.outputs = {unbounded};
      graph_.Fuse(behind, std::move(bounds));
    }
    const auto views = product->views;
    const NodeId fused = graph_.Fuse(parts, std::move(product->node));
    if (!views.has_value()) return true;
    graph_.InsertBefore(
        fused, View(fused, views->input, graph_.node(fused).inputs[0]));
    graph_.InsertAfter(fused, View(fused, result, unbounded));
    return true;
  }

  // A value of one shape as one of another, which is known.
  Node View(NodeId origin, ValueId from, ValueId to) {
    const Shape shape = *graph_.shape(to);
    const ValueId extents =
        graph_.AddConstant(HostTensor::Int64s(shape.extents()), to);
    return MakeNode(graph_.node(origin), OpKind::kReshape, ReshapeParams(),
                    {from, extents}, {to});
  }

  bool FuseChain(NodeId id, const Quantization& to) {
    auto chain = QuantizedChainOf(graph_, id, to);
    if (!chain.has_value()) return false;
    Node node = MakeNode(graph_.node(id), OpKind::kElementwiseChain,
                         std::move(chain->expression), std::move(chain->inputs),
                         graph_.node(id).outputs);
    if (!context_.HasKernel(node)) return false;
    graph_.Fuse(chain->nodes, std::move(node));
    return true;
  }

  Tail TailOf(NodeId id) const {
    Tail tail{.value = graph_.node(id).inputs[0], .reader = id, .bounds = {}};
    while (graph_.only_reader(tail.value) == tail.reader) {
      const NodeId producer = graph_.producer(tail.value);
      if (producer == kNoNode) break;
      const Node& node = graph_.node(producer);
      const auto step = ElementwiseStepOf(node, graph_.inference());
      if (!step.has_value()) break;
      double low = 0;
      double high = std::numeric_limits<double>::infinity();
      if (step->step.op == OpKind::kClip) {
        low = step->step.parameters[0];
        high = step->step.parameters[1];
      } else if (step->step.op != OpKind::kRelu) {
        break;
      }
      // Of a Clip whose bounds cross, or are no numbers, nothing is made.
      if (!(low <= high)) break;
      // What comes behind has bounds already.
      tail.low = std::min(std::max(low, tail.low), tail.high);
      tail.high = std::min(std::max(high, tail.low), tail.high);
      tail.bounds.push_back(producer);
      tail.value = node.inputs[0];
      tail.reader = producer;
    }
    return tail;
  }

  // A DequantizeLinear that only `reader` reads is one of its parts.
  void AddIfOwn(NodeId dequantize, NodeId reader, std::vector<NodeId>& parts) {
    if (graph_.only_reader(graph_.node(dequantize).outputs[0]) == reader) {
      parts.push_back(dequantize);
    }
  }

  PassContext& context_;
  GraphEditor& graph_;
};

}  // namespace

int FuseQdq(PassContext& context) { return QdqFuser(context).Run(); }

}  // namespace tensord
