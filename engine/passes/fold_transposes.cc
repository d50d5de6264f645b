#include "engine/passes/fold_transposes.h"

#include <optional>
#include <utility>
#include <vector>

#include "engine/passes/node_query.h"

namespace tensord {
namespace {

class TransposeFolder {
 public:
  explicit TransposeFolder(PassContext& context)
      : context_(context), graph_(context.graph) {}

  int Run() {
    int count = 0;
    for (NodeId id : graph_.nodes()) {
      if (!graph_.is_live(id)) continue;
      if (graph_.node(id).op == OpKind::kTranspose) {
        if (MakeView(id)) ++count;
      } else {
        count += FoldInto(id);
      }
    }
    return count;
  }

 private:
  int FoldInto(NodeId id) {
    const Node& product = graph_.node(id);
    if (product.params.epilogue != nullptr || !MultipliesMatrices(product)) {
      return 0;
    }
    Node gemm = product;
    if (gemm.op == OpKind::kMatMul) {
      gemm.op = OpKind::kGemm;
      gemm.params = GemmParams();
    }
    auto& params = std::get<GemmParams>(gemm.params);
    std::vector<NodeId> parts = {id};
    for (int i = 0; i < 2; ++i) {
      const Node* transpose =
          MadeBy(graph_, product.inputs[i], OpKind::kTranspose);
      if (transpose == nullptr || !Turns(*transpose) ||
          graph_.only_reader(product.inputs[i]) != id) {
        continue;
      }
      parts.push_back(graph_.producer(product.inputs[i]));
      gemm.inputs[i] = transpose->inputs[0];
      bool& flag = i == 0 ? params.transpose_a : params.transpose_b;
      flag = !flag;
    }
    if (parts.size() == 1 || !context_.HasKernel(gemm)) return 0;
    graph_.Fuse(parts, std::move(gemm));
    return static_cast<int>(parts.size()) - 1;
  }

  bool MultipliesMatrices(const Node& node) const {
    if (node.op == OpKind::kGemm) return true;
    return node.op == OpKind::kMatMul && RankOf(node.inputs[0]) == 2 &&
           RankOf(node.inputs[1]) == 2;
  }

  size_t RankOf(ValueId value) const {
    return graph_.type(value).shape->size();
  }

  // A Transpose of a matrix that is none.
  bool Turns(const Node& node) const {
    return RankOf(node.inputs[0]) == 2 &&
           PermutationOf(graph_, node) == Dims{1, 0};
  }

  // The dimensions of more than one element keep their order.
  bool MakeView(NodeId id) {
    const Node& node = graph_.node(id);
    const std::optional<Shape> x = graph_.shape(node.inputs[0]);
    const std::optional<Shape> y = graph_.shape(node.outputs[0]);
    if (!x.has_value() || !y.has_value()) return false;
    int64_t last = -1;
    for (int64_t d : PermutationOf(graph_, node)) {
      if ((*x)[static_cast<int>(d)] == 1) continue;
      if (d < last) return false;
      last = d;
    }
    const Node origin = node;
    const ValueId extents =
        graph_.AddConstant(HostTensor::Int64s(y->extents()), origin.outputs[0]);
    Node view =
        MakeNode(origin, OpKind::kReshape, ReshapeParams{.allow_zero = true},
                 {origin.inputs[0], extents}, origin.outputs);
    view.fused_from = origin.fused_from;
    graph_.Replace(id, std::move(view));
    return true;
  }

  PassContext& context_;
  GraphEditor& graph_;
};

}  // namespace

int FoldTransposes(PassContext& context) {
  return TransposeFolder(context).Run();
}

}  // namespace tensord
