#include "engine/passes/remove_no_ops.h"

#include <optional>
#include <utility>

#include "engine/passes/node_query.h"

namespace tensord {
namespace {

// Whether every number of `from` is one of `to`, so that a Cast there and back
// changes none.
bool Holds(DType to, DType from) {
  switch (from) {
    case DType::kFloat16:
    case DType::kBFloat16:
      return to == DType::kFloat32 || to == DType::kFloat64;
    case DType::kFloat32:
      return to == DType::kFloat64;
    case DType::kBool:
      return to == DType::kInt32 || to == DType::kInt64 ||
             to == DType::kFloat32 || to == DType::kFloat64;
    case DType::kInt32:
      return to == DType::kInt64 || to == DType::kFloat64;
    default:
      return false;
  }
}

class NoOpRemover {
 public:
  explicit NoOpRemover(PassContext& context) : graph_(context.graph) {}

  int Run() {
    int count = 0;
    for (NodeId id : graph_.nodes()) {
      if (!graph_.is_live(id)) continue;
      if (graph_.node(id).op == OpKind::kTranspose && Compose(id)) ++count;
      if (const std::optional<ValueId> same = SameAs(graph_.node(id))) {
        const ValueId output = graph_.node(id).outputs[0];
        if (graph_.is_output(output)) continue;
        graph_.Redirect(output, *same);
        graph_.Remove(id);
        ++count;
      }
    }
    return count;
  }

 private:
  // The value that the node's only output is equal to.
  std::optional<ValueId> SameAs(const Node& node) const {
    if (node.outputs.size() != 1 || node.inputs.empty() ||
        node.inputs[0] == kNoValue) {
      return std::nullopt;
    }
    const ValueId x = node.inputs[0];
    const ValueId y = node.outputs[0];
    if (!AreAlike(graph_, x, y)) return CastBack(node);
    switch (node.op) {
      case OpKind::kCast:
      case OpKind::kCastLike:
      case OpKind::kExpand:
      case OpKind::kTile:
        return x;
      case OpKind::kConcat:
      case OpKind::kMax:
      case OpKind::kMean:
      case OpKind::kMin:
      case OpKind::kSum:
        return node.inputs.size() == 1 ? std::optional(x) : std::nullopt;
      case OpKind::kTranspose:
        return IsIdentity(node) ? std::optional(x) : std::nullopt;
      default:
        return IsView(node) ? std::optional(x) : std::nullopt;
    }
  }

  // x of Cast(Cast(x)), where the second gives x its dtype again.
  std::optional<ValueId> CastBack(const Node& node) const {
    if (node.op != OpKind::kCast) return std::nullopt;
    const Node* first = MadeBy(graph_, node.inputs[0], OpKind::kCast);
    if (first == nullptr ||
        !AreAlike(graph_, first->inputs[0], node.outputs[0]) ||
        !Holds(graph_.type(node.inputs[0]).dtype,
               graph_.type(first->inputs[0]).dtype)) {
      return std::nullopt;
    }
    return first->inputs[0];
  }

  bool IsIdentity(const Node& node) const {
    const Dims permutation = PermutationOf(graph_, node);
    for (size_t d = 0; d < permutation.size(); ++d) {
      if (permutation[d] != static_cast<int64_t>(d)) return false;
    }
    return true;
  }

  // Reads what the Transpose before it reads, if that has no other reader.
  bool Compose(NodeId id) {
    const Node& second = graph_.node(id);
    const ValueId between = second.inputs[0];
    const Node* first = MadeBy(graph_, between, OpKind::kTranspose);
    if (first == nullptr || graph_.only_reader(between) != id) return false;
    const Dims inner = PermutationOf(graph_, *first);
    Dims composed;
    for (int64_t d : PermutationOf(graph_, second))
      composed.push_back(inner[d]);
    graph_.Fuse({graph_.producer(between), id},
                MakeNode(second, OpKind::kTranspose,
                         TransposeParams{std::move(composed)},
                         {first->inputs[0]}, second.outputs));
    return true;
  }

  GraphEditor& graph_;
};

}  // namespace

int RemoveNoOps(PassContext& context) { return NoOpRemover(context).Run(); }

}  // namespace tensord
