#include "engine/passes/channels_last.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/ops/channels_last.h"
#include "engine/passes/image_twins.h"
#include "engine/passes/is_elementwise.h"

namespace tensord {
namespace {

class Propagator {
 public:
  Propagator(const Graph& graph, const Inference& inference,
             EstimateNode estimate)
      : source_(graph), estimate_(estimate), twins_(graph, inference) {}

  Graph Run() {
    for (const Node& node : source_.nodes) {
      if (!Turn(node)) twins_.Keep(node);
    }
    for (ValueId output : source_.outputs) twins_.First(output);
    return saved_ns_ > CostOfMoves() ? twins_.Take() : source_;
  }

 private:
  // Adds the node with channels last, if that is possible and worth it.
  bool Turn(const Node& node) {
    if (node.inputs.empty() || node.outputs.size() != 1 ||
        node.inputs[0] == kNoValue || !node.bodies.empty()) {
      return false;
    }
    switch (node.op) {
      case OpKind::kConv:
      case OpKind::kMaxPool:
      case OpKind::kAveragePool:
      case OpKind::kGlobalAveragePool:
      case OpKind::kGlobalMaxPool:
        return TurnAnchor(node);
      case OpKind::kConcat:
        return TurnConcat(node);
      case OpKind::kPad:
        return TurnPad(node);
      case OpKind::kResize:
        return TurnResize(node);
      case OpKind::kReduceMean:
      case OpKind::kReduceMax:
      case OpKind::kReduceMin:
      case OpKind::kReduceSum:
        return TurnReduce(node);
      case OpKind::kTranspose:
        return TurnTranspose(node);
      case OpKind::kQuantizeLinear:
      case OpKind::kDequantizeLinear:
        return HasOneScale(node) && TurnElementwise(node);
      default:
        return IsElementwise(node.op) && TurnElementwise(node);
    }
  }

  int RankOf(ValueId value) const {
    return static_cast<int>(twins_.KnownType(value)->shape->size());
  }

  // Where dimension d of an image of this rank is when its channels are last.
  static int64_t PlaceInLast(int64_t d, int rank) {
    return d == 0 ? 0 : d == 1 ? rank - 1 : d - 1;
  }

  // An image that exists with channels last alone: to read it as it was, its
  // elements must be moved.
  bool IsLastAlone(ValueId value) const {
    return value != kNoValue && twins_.HasLast(value) &&
           !twins_.HasFirst(value);
  }

  bool TurnAnchor(const Node& node) {
    const ValueId x = node.inputs[0];
    const ValueId y = node.outputs[0];
    if (!twins_.IsImage(x) || !twins_.IsImage(y)) return false;
    const int own_inputs = node.params.epilogue == nullptr
                               ? static_cast<int>(node.inputs.size())
                               : node.params.epilogue->own_input_count;
    if (!CanBroadcast(node, own_inputs, RankOf(y))) return false;

    Node turned = node;
    if (auto* conv = std::get_if<ConvParams>(&turned.params)) {
      conv->channels_last = true;
    } else {
      std::get<PoolParams>(turned.params).channels_last = true;
    }
    const std::optional<double> before = Estimate(node, own_inputs, false);
    const std::optional<double> after = Estimate(turned, own_inputs, true);
    if (!before.has_value() || !after.has_value() || *after > *before) {
      return false;
    }
    saved_ns_ += *before - *after;
    turned.inputs[0] = twins_.Last(x);
    for (int i = 1; i < own_inputs; ++i) twins_.First(turned.inputs[i]);
    BroadcastInputs(turned, own_inputs, RankOf(y));
    turned.outputs[0] = twins_.DefineLast(y);
    twins_.Add(std::move(turned));
    return true;
  }

  // `is_turned`: with channels last in input 0, the output and what an epilogue
  // reads.
  std::optional<double> Estimate(const Node& node, int own_inputs,
                                 bool is_turned) const {
    std::vector<TensorType> types;
    std::vector<const HostTensor*> constants;
    const int rank = RankOf(node.outputs[0]);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      constants.push_back(twins_.ConstantOf(node.inputs[i]));
      TensorType& type = types.emplace_back();
      if (node.inputs[i] == kNoValue) continue;
      const TensorType* known = twins_.KnownType(node.inputs[i]);
      if (known == nullptr) return std::nullopt;
      type = *known;
      const bool is_image = i == 0 || static_cast<int>(i) >= own_inputs;
      if (!is_turned || !is_image || IsOneElement(type)) continue;
      type.shape->insert(type.shape->begin(), rank - type.shape->size(),
                         Dim::Known(1));
      type.shape = ToChannelsLast(*type.shape);
      constants.back() = nullptr;  // its bytes will be others
    }
    types.push_back(*twins_.KnownType(node.outputs[0]));
    if (is_turned) types.back().shape = ToChannelsLast(*types.back().shape);
    return estimate_(node, types, constants);
  }

  // Whether inputs from `begin` on can be read by an element-wise step whose
  // result, of this rank, has its channels last.
  bool CanBroadcast(const Node& node, int begin, int rank) const {
    for (size_t i = begin; i < node.inputs.size(); ++i) {
      const ValueId input = node.inputs[i];
      if (input == kNoValue) continue;
      const TensorType* type = twins_.KnownType(input);
      if (type == nullptr) return false;
      if (IsOneElement(*type)) continue;
      const auto own_rank = static_cast<int>(type->shape->size());
      if (own_rank > rank || BitWidth(type->dtype) < 8) return false;
      if (twins_.ConstantOf(input) != nullptr) continue;
      if (own_rank < rank || !twins_.IsImage(input)) return false;
    }
    return true;
  }

  void BroadcastInputs(Node& node, int begin, int rank) {
    for (size_t i = begin; i < node.inputs.size(); ++i) {
      ValueId& input = node.inputs[i];
      if (input == kNoValue) continue;
      if (IsOneElement(*twins_.KnownType(input))) {
        twins_.First(input);
      } else if (twins_.ConstantOf(input) != nullptr) {
        input = twins_.BroadcastConstant(input, rank);
      } else {
        input = twins_.Last(input);
      }
    }
  }

  static bool IsOneElement(const TensorType& type) {
    return std::all_of(type.shape->begin(), type.shape->end(),
                       [](Dim dim) { return dim == Dim::Known(1); });
  }

  // Elements of images that would have to be moved if the node stays as it is,
  // against those if it is turned.
  bool IsTurnCheaper(absl::Span<const ValueId> inputs) const {
    int64_t moved_if_kept = 0;
    int64_t moved_if_turned = 0;
    for (ValueId input : inputs) {
      if (input == kNoValue || !twins_.IsImage(input)) continue;
      if (twins_.ConstantOf(input) != nullptr) continue;
      int64_t elements = 1;
      for (Dim dim : *twins_.KnownType(input)->shape) elements *= dim.extent();
      if (!twins_.HasFirst(input)) moved_if_kept += elements;
      if (!twins_.HasLast(input)) moved_if_turned += elements;
    }
    return moved_if_kept > 0 && moved_if_kept >= moved_if_turned;
  }

  bool TurnElementwise(const Node& node) {
    const ValueId y = node.outputs[0];
    if (!twins_.IsImage(y) || !IsTurnCheaper(node.inputs)) return false;
    const int rank = RankOf(y);
    if (!CanBroadcast(node, 0, rank)) return false;
    Node turned = node;
    BroadcastInputs(turned, 0, rank);
    turned.outputs[0] = twins_.DefineLast(y);
    twins_.Add(std::move(turned));
    return true;
  }

  bool HasOneScale(const Node& node) const {
    return std::all_of(
        node.inputs.begin() + 1, node.inputs.end(), [&](ValueId input) {
          return input == kNoValue || (twins_.KnownType(input) != nullptr &&
                                       IsOneElement(*twins_.KnownType(input)));
        });
  }

  bool TurnConcat(const Node& node) {
    const ValueId y = node.outputs[0];
    if (!twins_.IsImage(y) || !IsTurnCheaper(node.inputs)) return false;
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

  // `values` with one entry a dimension, in the order of the twin's.
  template <typename T>
  static std::vector<T> Reordered(absl::Span<const T> values) {
    const auto rank = static_cast<int>(values.size());
    std::vector<T> result(rank);
    for (int d = 0; d < rank; ++d) result[PlaceInLast(d, rank)] = values[d];
    return result;
  }

  ValueId AddInts(const Node& node, const char* what,
                  absl::Span<const int64_t> values) {
    return twins_.AddConstant(absl::StrCat(node.outputs[0], ":", what),
                              HostTensor::Int64s(values));
  }

  // Pads for all dimensions, or for those that input 3 lists.
  bool TurnPad(const Node& node) {
    const ValueId x = node.inputs[0];
    const ValueId y = node.outputs[0];
    if (!IsLastAlone(x) || !twins_.IsImage(y)) return false;
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
  bool TurnResize(const Node& node) {
    const ValueId x = node.inputs[0];
    const ValueId y = node.outputs[0];
    const auto& params = std::get<ResizeParams>(node.params);
    if (!IsLastAlone(x) || !twins_.IsImage(y) || !params.axes.empty() ||
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
            absl::StrCat(node.outputs[0], ":scales"),
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
  bool TurnReduce(const Node& node) {
    const ValueId x = node.inputs[0];
    const ValueId y = node.outputs[0];
    if (!IsLastAlone(x) || node.inputs.size() < 2) return false;
    const HostTensor* axes = twins_.ConstantOf(node.inputs[1]);
    if (axes == nullptr || axes->shape().element_count() == 0) return false;
    const int rank = RankOf(x);
    std::vector<int64_t> turned_axes;
    bool has_channels = false;
    for (int64_t axis : axes->values<int64_t>()) {
      if (axis < 0) axis += rank;
      has_channels |= axis == 1;
      turned_axes.push_back(PlaceInLast(axis, rank));
    }
    const bool keeps_dims = std::get<ReduceParams>(node.params).keep_dims;
    const bool is_spatial_whole =
        !has_channels && static_cast<int>(turned_axes.size()) >= rank - 2;
    if (keeps_dims ? !twins_.IsImage(y) : !has_channels && !is_spatial_whole) {
      return false;
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
  bool TurnTranspose(const Node& node) {
    const ValueId x = node.inputs[0];
    const ValueId y = node.outputs[0];
    if (!twins_.IsImage(x)) return false;
    const int rank = RankOf(x);
    const Dims& permutation =
        std::get<TransposeParams>(node.params).permutation;
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

  // What moving elements at the edges of regions takes.
  double CostOfMoves() const {
    double ns = 0;
    for (NodeId id : twins_.moves()) {
      const Node& node = twins_.graph().nodes[id];
      const TensorType types[] = {*twins_.KnownType(node.inputs[0]),
                                  *twins_.KnownType(node.outputs[0])};
      const HostTensor* const constants[] = {nullptr};
      ns += estimate_(node, types, constants).value_or(0);
    }
    return ns;
  }

  const Graph& source_;
  const EstimateNode estimate_;
  ImageTwins twins_;
  double saved_ns_ = 0;
};

}  // namespace

Graph PropagateChannelsLast(const Graph& graph, const Inference& inference,
                            EstimateNode estimate) {
  return Propagator(graph, inference, estimate).Run();
}

}  // namespace tensord
