#include "engine/passes/fuse_attention.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "engine/passes/attention_pattern.h"
#include "engine/passes/node_query.h"

namespace tensord {
namespace {

const Dims& MovedHeads() {
  static const Dims* const permutation = new Dims{0, 2, 1, 3};
  return *permutation;
}

// One Attention on its way: nodes that will stand before and behind it.
class Attempt {
 public:
  Attempt(PassContext& context, AttentionPattern pattern)
      : context_(context), graph_(context.graph), found_(std::move(pattern)) {}

  // [batch, sequence, heads * size], where all heads are moved by Transposes.
  bool MakePacked() {
    const NodeId transpose = graph_.only_reader(found_.y);
    if (!IsMove(transpose) || !HeadsAreKnown()) return false;
    FindPast();
    const ValueId new_k = past_k_ == kNoValue ? found_.k : new_k_;
    const ValueId new_v = past_v_ == kNoValue ? found_.v : new_v_;
    const bool k_is_unmoved = found_.k_unmoved != kNoValue;
    if (k_is_unmoved) TakeInner(found_.k_transposed);
    const std::optional<ValueId> inputs[] = {
        FlatSource(found_.q, 0),
        k_is_unmoved ? Flattened(found_.k_unmoved) : FlatSource(new_k, 1),
        FlatSource(new_v, 2)};
    for (const auto& input : inputs) {
      if (!input.has_value()) return false;
    }
    params_.query_heads = ShapeOf(found_.q)[1].extent();
    params_.key_value_heads = ShapeOf(found_.v)[1].extent();
    found_.parts.push_back(transpose);
    if (!FlattenResult(graph_.node(transpose).outputs[0])) return false;
    return Make({*inputs[0], *inputs[1], *inputs[2]});
  }

  // [batch, heads, sequence, size].
  bool MakePlain() {
    FindPast();
    ValueId k = past_k_ == kNoValue ? found_.k : new_k_;
    if (k == kNoValue) k = Transposed();
    result_ = found_.y;
    return Make({found_.q, k, past_v_ == kNoValue ? found_.v : new_v_});
  }

  // Batch and heads in one dimension are the heads of a batch of one.
  bool MakeFlat() {
    ValueId k = found_.k;
    if (k == kNoValue) k = Transposed();
    std::vector<ValueId> inputs;
    for (ValueId input : {found_.q, k, found_.v}) {
      SymbolicShape shape = ShapeOf(input);
      shape.insert(shape.begin(), Dim::Known(1));
      const auto reshaped = Reshaped(input, shape);
      if (!reshaped.has_value()) return false;
      inputs.push_back(*reshaped);
    }
    SymbolicShape shape = ShapeOf(found_.y);
    shape.insert(shape.begin(), Dim::Known(1));
    result_ = graph_.AddValue({graph_.type(found_.y).dtype, shape}, found_.y);
    return AddReshapeBehind(result_, found_.y) && Make(std::move(inputs));
  }

 private:
  const SymbolicShape& ShapeOf(ValueId value) const {
    return *graph_.type(value).shape;
  }

  bool IsMove(NodeId id) const {
    return id != kNoNode && IsTransposeBy(graph_.node(id), MovedHeads());
  }

  bool HeadsAreKnown() const {
    return ShapeOf(found_.q)[1].is_known() && ShapeOf(found_.v)[1].is_known();
  }

  // The node that makes a value goes, if only the pattern needs it.
  void TakeInner(ValueId value) {
    if (graph_.read_count(value) == 1 && !graph_.is_output(value)) {
      found_.parts.push_back(graph_.producer(value));
    }
  }

  // Before its heads were moved.
  std::optional<ValueId> Unmoved(ValueId value) {
    if (value == kNoValue || !IsMove(graph_.producer(value))) {
      return std::nullopt;
    }
    TakeInner(value);
    return graph_.node(graph_.producer(value)).inputs[0];
  }

  // What the queries (0), keys (1) or values (2) were before their heads were
  // moved, as [batch, sequence, heads * size].
  std::optional<ValueId> FlatSource(ValueId value, int index) {
    if (const std::optional<ValueId> unmoved = Unmoved(value)) {
      return Flattened(*unmoved);
    }
    if (value == kNoValue) return std::nullopt;
    std::optional<AttentionSlice> slice = FindSlice(graph_, value);
    if (!slice.has_value() || slice->index != index ||
        (split_from_ != kNoValue && split_from_ != slice->whole)) {
      return std::nullopt;
    }
    found_.parts.insert(found_.parts.end(), slice->parts.begin(),
                        slice->parts.end());
    if (split_from_ == kNoValue) Split(slice->whole);
    return split_[index];
  }

  // Takes queries, keys and values out of one value.
  void Split(ValueId whole) {
    split_from_ = whole;
    SymbolicShape shape = ShapeOf(whole);
    const int64_t columns = shape.back().extent() / 3;
    shape.back() = Dim::Known(columns);
    for (ValueId& part : split_) {
      part = graph_.AddValue({graph_.type(whole).dtype, shape}, whole);
    }
    const ValueId extents = graph_.AddConstant(
        HostTensor::Int64s({columns, columns, columns}), whole);
    before_.push_back(MakeNode(Origin(), OpKind::kSplit, SplitParams{.axis = 2},
                               {whole, extents},
                               {split_[0], split_[1], split_[2]}));
  }

  // The keys and the values as past and new ones along the sequence.
  void FindPast() {
    if (found_.k == kNoValue) return;
    const Node* k = ConcatOfTwo(found_.k);
    const Node* v = ConcatOfTwo(found_.v);
    if (k == nullptr || v == nullptr) return;
    const Dim past = ShapeOf(k->inputs[0])[2];
    if (past != ShapeOf(v->inputs[0])[2]) return;
    past_k_ = k->inputs[0];
    past_v_ = v->inputs[0];
    new_k_ = k->inputs[1];
    new_v_ = v->inputs[1];
    found_.parts.push_back(graph_.producer(found_.k));
    if (found_.v != found_.k) {
      found_.parts.push_back(graph_.producer(found_.v));
    }
  }

  const Node* ConcatOfTwo(ValueId value) const {
    const Node* node = MadeBy(graph_, value, OpKind::kConcat);
    if (node == nullptr || node->inputs.size() != 2) return nullptr;
    const int64_t axis = std::get<AxisParams>(node->params).axis;
    return axis == 2 || axis == -2 ? node : nullptr;
  }

  // [batch, sequence, heads, size] as [batch, sequence, heads * size].
  std::optional<ValueId> Flattened(ValueId value) {
    const SymbolicShape shape = FlatShape(value);
    const NodeId source = graph_.producer(value);
    if (source != kNoNode && IsView(graph_.node(source))) {
      const ValueId whole = graph_.node(source).inputs[0];
      if (graph_.type(whole).shape == shape) {
        TakeInner(value);
        return whole;
      }
    }
    return Reshaped(value, shape);
  }

  SymbolicShape FlatShape(ValueId value) const {
    const SymbolicShape& shape = ShapeOf(value);
    const bool is_known = shape[2].is_known() && shape[3].is_known();
    return {shape[0], shape[1],
            is_known ? Dim::Known(shape[2].extent() * shape[3].extent())
                     : Dim::Known(-1)};
  }

  // `moved` is the result as [batch, sequence, heads, size].
  bool FlattenResult(ValueId moved) {
    const SymbolicShape shape = FlatShape(moved);
    const NodeId reader = graph_.only_reader(moved);
    if (reader != kNoNode && IsView(graph_.node(reader)) &&
        graph_.type(graph_.node(reader).outputs[0]).shape == shape) {
      found_.parts.push_back(reader);
      result_ = graph_.node(reader).outputs[0];
      return true;
    }
    result_ = graph_.AddValue({graph_.type(moved).dtype, shape}, moved);
    return AddReshapeBehind(result_, moved);
  }

  // A node before the Attention that gives a value another shape.
  std::optional<ValueId> Reshaped(ValueId value, const SymbolicShape& shape) {
    const ValueId to =
        graph_.AddValue({graph_.type(value).dtype, shape}, value);
    std::optional<Node> node = Reshape(value, to);
    if (!node.has_value()) return std::nullopt;
    before_.push_back(*std::move(node));
    return to;
  }

  bool AddReshapeBehind(ValueId from, ValueId to) {
    std::optional<Node> node = Reshape(from, to);
    if (node.has_value()) behind_.push_back(*std::move(node));
    return node.has_value();
  }

  std::optional<Node> Reshape(ValueId from, ValueId to) {
    const auto shape = graph_.shape(to);
    if (!shape.has_value()) return std::nullopt;
    const ValueId extents =
        graph_.AddConstant(HostTensor::Int64s(shape->extents()), to);
    return MakeNode(Origin(), OpKind::kReshape,
                    ReshapeParams{.allow_zero = true}, {from, extents}, {to});
  }

  // The keys as [..., sequence, size].
  ValueId Transposed() {
    const ValueId from =
        found_.k_unmoved != kNoValue ? found_.k_unmoved : found_.k_transposed;
    SymbolicShape shape = ShapeOf(from);
    Dims permutation;
    if (found_.k_unmoved != kNoValue) {
      permutation = MovedHeads();
      std::swap(shape[1], shape[2]);
      TakeInner(found_.k_transposed);
    } else {
      for (size_t d = 0; d < shape.size(); ++d) permutation.push_back(d);
      std::swap(permutation[shape.size() - 2], permutation.back());
      std::swap(shape[shape.size() - 2], shape.back());
    }
    const ValueId to = graph_.AddValue({graph_.type(from).dtype, shape}, from);
    before_.push_back(MakeNode(Origin(), OpKind::kTranspose,
                               TransposeParams{std::move(permutation)}, {from},
                               {to}));
    return to;
  }

  const Node& Origin() const { return graph_.node(graph_.producer(found_.y)); }

  bool Make(std::vector<ValueId> inputs) {
    params_.scale = static_cast<float>(found_.scale);
    std::vector<ValueId> results = {result_};
    if (past_k_ != kNoValue) {
      inputs.insert(inputs.end(), {found_.mask, past_k_, past_v_});
      results.insert(results.end(), {found_.k, found_.v});
    } else if (found_.mask != kNoValue) {
      inputs.push_back(found_.mask);
    }
    std::sort(found_.parts.begin(), found_.parts.end());
    found_.parts.erase(std::unique(found_.parts.begin(), found_.parts.end()),
                       found_.parts.end());
    if (!AreInternal(results)) return false;
    if (past_k_ != kNoValue && graph_.AreInternal(found_.parts, Inner())) {
      results.resize(1);  // nobody wants the present keys and values
    }
    Node node = MakeNode(Origin(), OpKind::kAttention, params_,
                         std::move(inputs), std::move(results));
    if (!context_.HasKernel(node)) return false;
    const NodeId id = graph_.Fuse(found_.parts, std::move(node));
    for (Node& before : before_) graph_.InsertBefore(id, std::move(before));
    for (Node& behind : behind_) graph_.InsertAfter(id, std::move(behind));
    return true;
  }

  // What the nodes make that is not the result itself.
  std::vector<ValueId> Inner() const {
    return behind_.empty() ? std::vector<ValueId>{result_} : behind_[0].outputs;
  }

  bool AreInternal(std::vector<ValueId> results) const {
    if (!behind_.empty()) results[0] = behind_[0].outputs[0];
    return graph_.AreInternal(found_.parts, results);
  }

  PassContext& context_;
  GraphEditor& graph_;
  AttentionPattern found_;
  ValueId past_k_ = kNoValue, past_v_ = kNoValue;
  ValueId new_k_ = kNoValue, new_v_ = kNoValue;
  ValueId split_from_ = kNoValue;
  std::array<ValueId, 3> split_ = {};
  AttentionParams params_;
  ValueId result_ = kNoValue;
  std::vector<Node> before_;
  std::vector<Node> behind_;
};

bool FuseAround(PassContext& context, NodeId softmax) {
  std::optional<AttentionPattern> found = FindAttention(context.graph, softmax);
  if (!found.has_value()) return false;
  if (context.graph.type(found->q).shape->size() == 3) {
    return Attempt(context, *std::move(found)).MakeFlat();
  }
  return Attempt(context, *found).MakePacked() ||
         Attempt(context, *found).MakePlain();
}

}  // namespace

int FuseAttention(PassContext& context) {
  int count = 0;
  for (NodeId id : context.graph.nodes()) {
    if (context.graph.is_live(id) && FuseAround(context, id)) ++count;
  }
  return count;
}

}  // namespace tensord
