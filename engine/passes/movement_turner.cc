#include "engine/passes/movement_turner.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "engine/ops/channels_last.h"

namespace tensord {
namespace {

// Where dimension d of an image of this rank is when its channels are last.
int64_t PlaceInLast(int64_t d, int rank) {
  return d == 0 ? 0 : d == 1 ? rank - 1 : d - 1;
}

// `values` with one entry a dimension, in the order of the twin's.
template <typename T>
std::vector<T> Reordered(absl::Span<const T> values) {
  const auto rank = static_cast<int>(values.size());
  std::vector<T> result(rank);
  for (int d = 0; d < rank; ++d) result[PlaceInLast(d, rank)] = values[d];
  return result;
}

}  // namespace

MovementTurner::MovementTurner(const Graph& source, ImageTwins& twins)
    : source_(source),
      twins_(twins),
      is_done_(source.nodes.size(), false),
      only_reader_(source.values.size(), kNoNode) {
  std::vector<int> readers(source.values.size(), 0);
  for (size_t i = 0; i < source.nodes.size(); ++i) {
    for (ValueId input : source.nodes[i].inputs) {
      if (input == kNoValue) continue;
      only_reader_[input] =
          ++readers[input] == 1 ? static_cast<NodeId>(i) : kNoNode;
    }
  }
  for (ValueId output : source.outputs) only_reader_[output] = kNoNode;
}

bool MovementTurner::Turn(const Node& node) {
  if (!IsLastAlone(node.inputs[0])) {
    return node.op == OpKind::kTranspose && TurnTranspose(node);
  }
  switch (node.op) {
    case OpKind::kSplit:
      return TurnSplit(node);
    case OpKind::kPad:
      return TurnPad(node);
    case OpKind::kResize:
      return TurnResize(node);
    case OpKind::kReduceMean:
    case OpKind::kReduceMax:
    case OpKind::kReduceMin:
    case OpKind::kReduceSum:
      return TurnReduce(node);
    case OpKind::kReshape:
      return TurnShuffle(node);
    case OpKind::kTranspose:
      return TurnTranspose(node);
    default:
      return false;
  }
}

const Node* MovementTurner::OnlyReader(ValueId value) const {
  const NodeId reader = only_reader_[value];
  return reader == kNoNode ? nullptr : &source_.nodes[reader];
}

ValueId MovementTurner::AddInts(const Node& node, const char* what,
                                absl::Span<const int64_t> values) {
  return twins_.AddConstant(absl::StrCat(node.name, ":", what),
                            HostTensor::Int64s(values));
}

bool MovementTurner::TurnConcat(const Node& node) {
  const ValueId y = node.outputs[0];
  if (!twins_.IsImage(y)) return false;
  for (ValueId input : node.inputs) {
    if (!twins_.IsImage(input)) return false;
  }
  Node turned = node;
  auto& axis = std::get<AxisParams>(turned.params).axis;
  axis = PlaceInLast(axis < 0 ? axis + RankOf(y) : axis, RankOf(y));
  for (ValueId& input : turned.inputs) input = twins_.Last(input);
  turned.outputs[0] = twins_.DefineLast(y);
  twins_.Add(std::move(turned));
  return true;
}

bool MovementTurner::TurnSplit(const Node& node) {
  const ValueId x = node.inputs[0];
  for (ValueId output : node.outputs) {
    if (!twins_.IsImage(output)) return false;
  }
  Node turned = node;
  auto& axis = std::get<SplitParams>(turned.params).axis;
  axis = PlaceInLast(axis < 0 ? axis + RankOf(x) : axis, RankOf(x));
  turned.inputs[0] = twins_.Last(x);
  for (size_t i = 1; i < turned.inputs.size(); ++i) {
    twins_.First(turned.inputs[i]);
  }
  for (ValueId& output : turned.outputs) output = twins_.DefineLast(output);
  twins_.Add(std::move(turned));
  return true;
}

// Pads for all dimensions, or for those that input 3 lists.
bool MovementTurner::TurnPad(const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  if (!twins_.IsImage(y)) return false;
  const HostTensor* pads = twins_.ConstantOf(node.inputs[1]);
  const bool has_axes = node.inputs.size() > 3 && node.inputs[3] != kNoValue;
  const int rank = RankOf(x);
  if (pads == nullptr || has_axes ||
      pads->shape().element_count() != 2 * rank) {
    return false;
  }
  const auto values = pads->values<int64_t>();
  std::vector<int64_t> turned_pads = Reordered(values.subspan(0, rank));
  const std::vector<int64_t> ends = Reordered(values.subspan(rank));
  turned_pads.insert(turned_pads.end(), ends.begin(), ends.end());
  Node turned = node;
  turned.inputs[0] = twins_.Last(x);
  turned.inputs[1] = AddInts(node, "pads", turned_pads);
  if (node.inputs.size() > 2) twins_.First(node.inputs[2]);
  turned.outputs[0] = twins_.DefineLast(y);
  twins_.Add(std::move(turned));
  return true;
}

// Scales or sizes for all dimensions, known ahead.
bool MovementTurner::TurnResize(const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  const auto& params = std::get<ResizeParams>(node.params);
  if (!twins_.IsImage(y) || !params.axes.empty() ||
      params.coordinates == ResizeCoordinates::kTfCropAndResize) {
    return false;
  }
  const int rank = RankOf(x);
  Node turned = node;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const HostTensor* values = twins_.ConstantOf(node.inputs[i]);
    if (node.inputs[i] == kNoValue) continue;
    if (values == nullptr) return false;
    if (values->shape().element_count() == 0) continue;
    if (static_cast<int>(i) == params.roi_input && params.roi_input != 0) {
      turned.inputs[i] = kNoValue;  // only tf_crop_and_resize reads it
      continue;
    }
    if (values->shape().element_count() != rank) return false;
  }
  for (size_t i = 1; i < turned.inputs.size(); ++i) {
    if (turned.inputs[i] == kNoValue) continue;
    const HostTensor* values = twins_.ConstantOf(turned.inputs[i]);
    if (values->shape().element_count() == 0) continue;
    if (values->dtype() == DType::kInt64) {
      turned.inputs[i] =
          AddInts(node, "sizes", Reordered(values->values<int64_t>()));
    } else {
      const std::vector<float> scales = Reordered(values->values<float>());
      turned.inputs[i] = twins_.AddConstant(
          absl::StrCat(node.name, ":scales"),
          HostTensor::Make(DType::kFloat32, values->shape(),
                           [&](absl::Span<std::byte> bytes) {
                             std::memcpy(bytes.data(), scales.data(),
                                         bytes.size());
                           }));
    }
  }
  turned.inputs[0] = twins_.Last(x);
  turned.outputs[0] = twins_.DefineLast(y);
  twins_.Add(std::move(turned));
  return true;
}

// Axes that are known. Without keep_dims, what is left must have its order.
bool MovementTurner::TurnReduce(const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  if (node.inputs.size() < 2) return false;
  const HostTensor* axes = twins_.ConstantOf(node.inputs[1]);
  if (axes == nullptr || axes->shape().element_count() == 0) return false;
  const int rank = RankOf(x);
  std::vector<int64_t> turned_axes;
  std::vector<bool> is_reduced(rank, false);
  for (int64_t axis : axes->values<int64_t>()) {
    if (axis < 0) axis += rank;
    is_reduced[axis] = true;
    turned_axes.push_back(PlaceInLast(axis, rank));
  }
  const bool keeps_dims = std::get<ReduceParams>(node.params).keep_dims;
  if (keeps_dims && !twins_.IsImage(y)) return false;
  if (!keeps_dims && !is_reduced[1] &&
      std::find(is_reduced.begin() + 2, is_reduced.end(), false) !=
          is_reduced.end()) {
    return false;  // channels stay before spatial dimensions that stay
  }
  Node turned = node;
  turned.inputs[0] = twins_.Last(x);
  turned.inputs[1] = AddInts(node, "axes", turned_axes);
  if (keeps_dims) {
    turned.outputs[0] = twins_.DefineLast(y);
  } else {
    twins_.Define(y);
  }
  twins_.Add(std::move(turned));
  return true;
}

// Out of an image with channels last: the permutation is another, or none.
// Into one, as exporters of channels-last frameworks write it: the input is
// the twin.
bool MovementTurner::TurnTranspose(const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  if (!twins_.IsImage(x)) return false;
  const int rank = RankOf(x);
  const Dims& permutation = std::get<TransposeParams>(node.params).permutation;
  if (static_cast<int>(permutation.size()) != rank) return false;
  if (!IsLastAlone(x)) {
    bool is_twin = twins_.HasFirst(x) && twins_.IsImage(y);
    for (int d = 0; d < rank; ++d) {
      is_twin &= PlaceInLast(d, rank) == permutation[d];
    }
    if (!is_twin) return false;
    twins_.Keep(node);
    twins_.AliasLast(y, x);
    return true;
  }
  Node turned = node;
  turned.inputs[0] = twins_.Last(x);
  Dims composed;
  bool is_identity = true;
  for (int d = 0; d < rank; ++d) {
    composed.push_back(PlaceInLast(permutation[d], rank));
    is_identity &= composed.back() == d;
  }
  if (is_identity) {
    turned.op = OpKind::kIdentity;
    turned.params = NoParams();
  } else {
    turned.params = TransposeParams{std::move(composed)};
  }
  twins_.Define(y);
  twins_.Add(std::move(turned));
  return true;
}

// The channel shuffle of nets with groups: [N, a * b, H, W] seen as [N, a, b,
// H, W], with a and b exchanged, and seen as an image again. With channels
// last, [N, H, W, a, b] becomes [N, H, W, b, a].
bool MovementTurner::TurnShuffle(const Node& node) {
  const ValueId x = node.inputs[0];
  if (RankOf(x) != 4) return false;
  const Node* const transpose = OnlyReader(node.outputs[0]);
  if (transpose == nullptr || transpose->op != OpKind::kTranspose ||
      std::get<TransposeParams>(transpose->params).permutation !=
          Dims{0, 2, 1, 3, 4}) {
    return false;
  }
  const Node* const join = OnlyReader(transpose->outputs[0]);
  if (join == nullptr || join->op != OpKind::kReshape ||
      join->inputs[0] != transpose->outputs[0]) {
    return false;
  }
  const ValueId y = join->outputs[0];
  const TensorType* parts = twins_.KnownType(node.outputs[0]);
  if (parts == nullptr || !twins_.IsImage(y)) return false;
  const SymbolicShape& from = *twins_.KnownType(x)->shape;
  const SymbolicShape& split = *parts->shape;
  if (*twins_.KnownType(y)->shape != from || split[0] != from[0] ||
      split[3] != from[2] || split[4] != from[3]) {
    return false;
  }
  const SymbolicShape grouped = {from[0], from[2], from[3], split[1], split[2]};
  const SymbolicShape exchanged = {from[0], from[2], from[3], split[2],
                                   split[1]};
  const ValueId a = twins_.AddReshape(node, twins_.Last(x), grouped);
  Node turned = *transpose;
  turned.params = TransposeParams{{0, 1, 2, 4, 3}};
  turned.inputs[0] = a;
  turned.outputs[0] =
      twins_.AddValue(absl::StrCat(transpose->name, ":channels_last"),
                      {parts->dtype, exchanged});
  const ValueId b = turned.outputs[0];
  twins_.Add(std::move(turned));
  twins_.AliasLast(y, twins_.AddReshape(*join, b, ToChannelsLast(from)));
  is_done_[transpose - source_.nodes.data()] = true;
  is_done_[join - source_.nodes.data()] = true;
  return true;
}

}  // namespace tensord
