#include "engine/passes/fold_batch_norm.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "engine/passes/channel_affine.h"
#include "engine/passes/node_query.h"

namespace tensord {
namespace {

class BatchNormFolder {
 public:
  explicit BatchNormFolder(PassContext& context)
      : context_(context), graph_(context.graph) {}

  int Run() {
    int count = 0;
    for (NodeId id : graph_.nodes()) {
      if (graph_.is_live(id)) count += FoldInto(id);
    }
    for (NodeId id : graph_.nodes()) {
      if (graph_.node(id).op == OpKind::kBatchNormalization && Split(id)) {
        ++count;
      }
    }
    return count;
  }

 private:
  // Folds all that follow the anchor; returns how many.
  int FoldInto(NodeId id) {
    const Node& anchor = graph_.node(id);
    if (!CanHold(anchor)) return 0;
    ChannelAffine total;
    history_ = {graph_.constant(anchor.inputs[1])};
    operation_ = OperationOf(anchor);
    std::vector<NodeId> parts = {id};
    ValueId result = anchor.outputs[0];
    for (;;) {
      const NodeId reader = graph_.only_reader(result);
      if (reader == kNoNode) break;
      const auto affine = ChannelAffineOf(graph_, graph_.node(reader), result);
      if (!affine.has_value()) break;
      Append(*affine, total);
      Record(graph_.node(reader), result);
      parts.push_back(reader);
      result = graph_.node(reader).outputs[0];
    }
    if (parts.size() == 1) return 0;
    std::optional<Node> folded = Folded(anchor, total);
    if (!folded.has_value()) return 0;
    folded->outputs = {result};
    graph_.Fuse(parts, *std::move(folded));
    return static_cast<int>(parts.size()) - 1;
  }

  bool CanHold(const Node& node) const {
    if (node.op != OpKind::kConv && node.op != OpKind::kConvTranspose &&
        node.op != OpKind::kGemm) {
      return false;
    }
    if (node.params.epilogue != nullptr ||
        !graph_.constant(node.inputs[1]).is_present()) {
      return false;
    }
    return !HasBias(node) || graph_.constant(node.inputs[2]).is_present();
  }

  static bool HasBias(const Node& node) {
    return node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  }

  // What the folded weights depend on, for the memo: the numbers of all nodes
  // are in their constants, but for an epsilon and the places of operands.
  static std::string OperationOf(const Node& anchor) {
    const auto* conv = std::get_if<ConvParams>(&anchor.params);
    const auto* gemm = std::get_if<GemmParams>(&anchor.params);
    return absl::StrCat("fold_batch_norm ", OpKindName(anchor.op), " ",
                        conv != nullptr ? conv->group : 0,
                        gemm != nullptr && gemm->transpose_b ? " b'" : "");
  }

  void Record(const Node& node, ValueId x) {
    absl::StrAppend(&operation_, " ", OpKindName(node.op));
    if (const auto* norm =
            std::get_if<BatchNormalizationParams>(&node.params)) {
      absl::StrAppend(&operation_, " ",
                      absl::bit_cast<uint32_t>(norm->epsilon));
    }
    for (ValueId input : node.inputs) {
      absl::StrAppend(&operation_, input == x ? " x" : " c");
      if (input != x) history_.push_back(graph_.constant(input));
    }
  }

  static void Append(const ChannelAffine& next, ChannelAffine& total) {
    if (total.scale.empty()) {
      total = next;
      return;
    }
    for (size_t c = 0; c < total.scale.size(); ++c) {
      total.scale[c] *= next.scale[c];
      total.shift[c] = total.shift[c] * next.scale[c] + next.shift[c];
    }
  }

  std::optional<Node> Folded(const Node& anchor, const ChannelAffine& affine) {
    const HostTensor weights = graph_.constant(anchor.inputs[1]);
    std::optional<std::vector<double>> b = BiasOf(anchor, affine.scale.size());
    if (!b.has_value() || !IsFloat(weights.dtype())) return std::nullopt;
    if (!context_.Charge(weights.size_bytes())) return std::nullopt;

    Node node = anchor;
    for (size_t c = 0; c < b->size(); ++c) {
      (*b)[c] = affine.scale[c] * (*b)[c] + affine.shift[c];
    }
    node.inputs[1] = graph_.AddConstant(
        context_.Remember(operation_, history_,
                          [&] { return Scaled(anchor, affine); }),
        anchor.inputs[1]);
    node.inputs.resize(3, kNoValue);
    node.inputs[2] = graph_.AddConstant(
        FloatTensor(weights.dtype(), Shape({static_cast<int64_t>(b->size())}),
                    *b),
        anchor.inputs[1]);
    node.own_input_count = 3;
    if (auto* gemm = std::get_if<GemmParams>(&node.params)) gemm->beta = 1;
    return node;
  }

  // The anchor's weights, each times its channel's scale.
  HostTensor Scaled(const Node& anchor, const ChannelAffine& affine) const {
    const HostTensor& weights = graph_.constant(anchor.inputs[1]);
    std::vector<double> numbers = *KnownFloats(graph_, anchor.inputs[1]);
    const ChannelPlaces places = PlacesOf(anchor, weights.shape());
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] *= affine.scale[places.ChannelOf(static_cast<int64_t>(i))];
    }
    return FloatTensor(weights.dtype(), weights.shape(), numbers);
  }

  // What is added to each channel.
  std::optional<std::vector<double>> BiasOf(const Node& node,
                                            size_t channels) const {
    if (!HasBias(node)) return std::vector<double>(channels, 0);
    auto bias = KnownFloats(graph_, node.inputs[2]);
    if (!bias.has_value()) return std::nullopt;
    if (const auto* gemm = std::get_if<GemmParams>(&node.params)) {
      // Of Gemm it broadcasts: a row will do, a column will not.
      const Shape& shape = graph_.constant(node.inputs[2]).shape();
      if (shape.rank() == 2 && shape[0] != 1) return std::nullopt;
      if (bias->size() == 1) bias->assign(channels, bias->front());
      for (double& number : *bias) number *= gemm->beta;
    }
    return bias;
  }

  // Which output channel an element of the weights counts for: the place along
  // one dimension, and for a ConvTranspose the group besides.
  struct ChannelPlaces {
    int64_t extent = 1;  // of the dimension
    int64_t inner = 1;   // elements of the dimensions behind it
    int64_t group = 0;   // elements of one group's weights; 0: one group

    int64_t ChannelOf(int64_t i) const {
      const int64_t place = i / inner % extent;
      return group == 0 ? place : i / group * extent + place;
    }
  };

  static ChannelPlaces PlacesOf(const Node& node, const Shape& weights) {
    const int rank = weights.rank();
    ChannelPlaces places;
    int dimension = 0;  // Conv: [M, C / groups, K...]
    if (node.op == OpKind::kConvTranspose) {
      // [C, M / groups, K...], whose first dimension is cut into groups.
      dimension = 1;
      const int64_t groups = std::get<ConvParams>(node.params).group;
      places.group = weights.element_count() / groups;
    } else if (node.op == OpKind::kGemm) {
      dimension = std::get<GemmParams>(node.params).transpose_b ? 0 : 1;
    }
    places.extent = weights[dimension];
    places.inner = weights.ElementCount(dimension + 1, rank);
    return places;
  }

  bool Split(NodeId id) {
    const Node& node = graph_.node(id);
    const ValueId x = node.inputs[0];
    const ValueId y = node.outputs[0];
    const DType dtype = graph_.type(x).dtype;
    if (dtype != DType::kFloat32 && dtype != DType::kFloat64) return false;
    const auto affine = ChannelAffineOf(graph_, node, x);
    if (!affine.has_value() || graph_.type(x).shape->size() < 2) return false;
    Dims extents(graph_.type(x).shape->size() - 1, 1);
    extents[0] = static_cast<int64_t>(affine->scale.size());
    const absl::StatusOr<Shape> shape = Shape::Create(extents);
    if (!shape.ok()) return false;
    const Node origin = node;
    const ValueId scale =
        graph_.AddConstant(FloatTensor(dtype, *shape, affine->scale), x);
    const ValueId shift =
        graph_.AddConstant(FloatTensor(dtype, *shape, affine->shift), x);
    constexpr int kScale = 1;
    constexpr int kShift = 2;
    if (!context_.HasKernel(
            MakeNode(origin, OpKind::kElementwiseChain,
                     Expression{.input_count = 3,
                                .steps = {{OpKind::kMul, {0, kScale}},
                                          {OpKind::kAdd, {3, kShift}}}},
                     {x, scale, shift}, {y}))) {
      return false;
    }
    const ValueId scaled = graph_.AddValue(graph_.type(x), x);
    graph_.Replace(
        id, MakeNode(origin, OpKind::kAdd, NoParams(), {scaled, shift}, {y}));
    graph_.InsertBefore(
        id, MakeNode(origin, OpKind::kMul, NoParams(), {x, scale}, {scaled}));
    return true;
  }

  PassContext& context_;
  GraphEditor& graph_;
  std::vector<HostTensor> history_;  // of the weights that are folded
  std::string operation_;
};

}  // namespace

int FoldBatchNorm(PassContext& context) {
  return BatchNormFolder(context).Run();
}

}  // namespace tensord
