#include "engine/passes/channels_last.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "engine/ops/channels_last.h"
#include "engine/ops/op_def.h"
#include "engine/ops/op_table.h"
#include "engine/passes/image_twins.h"
#include "engine/passes/is_elementwise.h"
#include "engine/passes/movement_turner.h"

namespace tensord {
namespace {

// Of a constant that is put into the other order when the graph is compiled.
constexpr size_t kMaxRearrangedBytes = size_t{16} << 20;

// What may be faster with channels last; all else goes along.
bool IsAnchor(const Node& node) {
  switch (node.op) {
    case OpKind::kConv:
    case OpKind::kQLinearConv:
    case OpKind::kMaxPool:
    case OpKind::kAveragePool:
    case OpKind::kGlobalAveragePool:
    case OpKind::kGlobalMaxPool:
      return true;
    default:
      return false;
  }
}

class Propagator {
 public:
  Propagator(const Graph& graph, const Inference& inference,
             EstimateNode estimate)
      : source_(graph),
        estimate_(estimate),
        twins_(graph, inference),
        movement_(graph, twins_) {}

  Graph Run() {
    for (const Node& node : source_.nodes) {
      if (!movement_.IsDone(node) && !Turn(node)) twins_.Keep(node);
    }
    for (ValueId output : source_.outputs) twins_.First(output);
    if (saved_ns_ <= CostOfMoves() || !HaveKernels()) return source_;
    return twins_.Take();
  }

 private:
  // Adds the node with channels last, if that is possible and worth it.
  bool Turn(const Node& node) {
    if (node.inputs.empty() || node.inputs[0] == kNoValue ||
        !node.bodies.empty()) {
      return false;
    }
    if (movement_.Turn(node)) return true;
    if (node.outputs.size() != 1) return false;
    if (IsAnchor(node)) return TurnAnchor(node);
    switch (node.op) {
      case OpKind::kConcat:
        return IsTurnCheaper(node.inputs) && movement_.TurnConcat(node);
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
      if (const HostTensor* constant = twins_.ConstantOf(input)) {
        if (constant->size_bytes() > kMaxRearrangedBytes) return false;
        continue;
      }
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

  // One for the whole tensor, so that no parameter names a dimension.
  bool HasOneScale(const Node& node) const {
    if (std::get<QuantizeParams>(node.params).block_size != 0) return false;
    return std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                       [&](ValueId input) {
                         if (input == kNoValue) return true;
                         const TensorType* type = twins_.KnownType(input);
                         return type != nullptr && type->shape->size() <= 1 &&
                                IsOneElement(*type);
                       });
  }

  // What moving elements at the edges of regions takes.
  double CostOfMoves() const {
    double ns = 0;
    for (NodeId id : twins_.moves()) {
      ns += EstimateAdded(twins_.graph().nodes[id]).value_or(0);
    }
    return ns;
  }

  // Whether the device can run what was added; views need no kernel.
  bool HaveKernels() const {
    return std::all_of(twins_.added().begin(), twins_.added().end(),
                       [&](NodeId id) {
                         const Node& node = twins_.graph().nodes[id];
                         const OpDef* def = FindOpDef(node.op);
                         return (def != nullptr && def->is_view) ||
                                EstimateAdded(node).has_value();
                       });
  }

  std::optional<double> EstimateAdded(const Node& node) const {
    std::vector<TensorType> types;
    std::vector<const HostTensor*> constants;
    for (ValueId input : node.inputs) {
      constants.push_back(twins_.ConstantOf(input));
      types.push_back(input == kNoValue ? TensorType()
                                        : *twins_.KnownType(input));
    }
    for (ValueId output : node.outputs) {
      types.push_back(*twins_.KnownType(output));
    }
    return estimate_(node, types, constants);
  }

  const Graph& source_;
  const EstimateNode estimate_;
  ImageTwins twins_;
  MovementTurner movement_;
  double saved_ns_ = 0;
};

}  // namespace

bool HasChannelsLastAnchor(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), IsAnchor);
}

Graph PropagateChannelsLast(const Graph& graph, const Inference& inference,
                            EstimateNode estimate) {
  return Propagator(graph, inference, estimate).Run();
}

}  // namespace tensord
