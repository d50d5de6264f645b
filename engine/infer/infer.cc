#include "engine/infer/infer.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/check_definition.h"
#include "engine/graph/escape.h"
#include "engine/graph/node_error.h"
#include "engine/graph/status_macros.h"
#include "engine/graph/value_claim.h"
#include "engine/infer/input_shapes.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/op_def.h"
#include "engine/ops/op_table.h"

namespace tensord {
namespace {

class GraphInferrer {
 public:
  GraphInferrer(const Graph& graph, const GraphLimits& limits,
                HostEvaluator* evaluator)
      : graph_(graph), limits_(limits), evaluator_(evaluator) {
    result_.types.resize(graph.values.size());
    result_.constants.resize(graph.values.size());
    result_.symbols = graph.symbols;
    for (size_t id = 0; id < graph.values.size(); ++id) {
      const Value& value = graph.values[id];
      if (value.constant.is_present()) {
        result_.constants[id] = value.constant;
        result_.types[id] = {value.constant.dtype(),
                             ToSymbolic(value.constant.shape())};
      } else if (value.is_input) {
        result_.types[id] = value.type;
      }
    }
  }

  void SetInputShapes(absl::Span<const Shape> shapes) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      result_.types[graph_.inputs[i]].shape = ToSymbolic(shapes[i]);
    }
  }
  void SetKnownExtents(const KnownExtents& known) { known_ = &known; }

  absl::StatusOr<Inference> Infer() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      const absl::Status status = InferNode(node);
      if (const std::optional<int> input = NeededValue(status)) {
        result_.open.push_back({static_cast<NodeId>(i), *input});
        continue;
      }
      TENSORD_RETURN_IF_ERROR(AtNode(node, status));
      if (IsFlow(node)) result_.open.push_back({static_cast<NodeId>(i)});
    }
    TENSORD_RETURN_IF_ERROR(AtGraph(CheckOutputClaims()));
    return std::move(result_);
  }

 private:
  static bool IsFlow(const Node& node) {
    const OpDef* op_def = FindOpDef(node.op);
    return op_def != nullptr && op_def->is_flow;
  }

  absl::Status InferNode(const Node& node) {
    const OpDef* op_def = FindOpDef(node.op);
    if (op_def != nullptr && op_def->is_flow) return absl::OkStatus();
    if (op_def == nullptr || op_def->infer == nullptr) {
      return absl::InternalError("operator has no shape rule");
    }
    std::vector<const TensorType*> inputs;
    std::vector<const HostTensor*> constants;
    for (ValueId id : node.inputs) {
      if (id == kNoValue) {
        inputs.push_back(nullptr);
        constants.push_back(nullptr);
        continue;
      }
      if (!result_.types[id].shape.has_value()) return absl::OkStatus();
      inputs.push_back(&result_.types[id]);
      constants.push_back(result_.constants[id].is_present()
                              ? &result_.constants[id]
                              : nullptr);
    }
    // What is fused behind an operator is none of its rule's business.
    if (const Epilogue* epilogue = node.params.epilogue.get()) {
      inputs.resize(epilogue->own_input_count);
      constants.resize(epilogue->own_input_count);
    }
    InferContext context(node.params, std::move(inputs), std::move(constants),
                         static_cast<int>(node.outputs.size()),
                         result_.symbols);
    TENSORD_RETURN_IF_ERROR(op_def->infer(context));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      TENSORD_RETURN_IF_ERROR(
          SetOutput(i, node.outputs[i], context.outputs()[i]));
      const HostTensor& constant = context.output_constants()[i];
      if (node.outputs[i] != kNoValue && constant.is_present()) {
        result_.constants[node.outputs[i]] = constant;
      }
    }
    TENSORD_RETURN_IF_ERROR(CheckEpilogue(node));
    ComputeSmallOutputs(node, *op_def);
    return absl::OkStatus();
  }

  // Kernels read an epilogue's inputs by the output's shape.
  absl::Status CheckEpilogue(const Node& node) {
    if (node.params.epilogue == nullptr) return absl::OkStatus();
    const TensorType& output = result_.types[node.outputs[0]];
    const auto& shape = *output.shape;
    const size_t first = node.params.epilogue->own_input_count;
    for (size_t i = first; i < node.inputs.size(); ++i) {
      const TensorType& input = result_.types[node.inputs[i]];
      bool fits =
          input.dtype == output.dtype && input.shape->size() <= shape.size();
      for (size_t d = 1; fits && d <= input.shape->size(); ++d) {
        const Dim own = (*input.shape)[input.shape->size() - d];
        fits = own == Dim::Known(1) || own == shape[shape.size() - d];
      }
      if (fits) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "input ", i, " of the fused steps, ", DTypeName(input.dtype), " ",
          result_.symbols.ToString(*input.shape), ", does not broadcast to ",
          DTypeName(output.dtype), " ", result_.symbols.ToString(shape)));
    }
    return absl::OkStatus();
  }

  absl::Status SetOutput(size_t index, ValueId id, const TensorType& type) {
    const std::string what = absl::StrCat("output ", index);
    if (type.dtype == DType::kUndefined || !type.shape.has_value()) {
      if (id == kNoValue) return absl::OkStatus();
      return absl::InternalError(
          absl::StrCat("the shape rule left out ", what));
    }
    TENSORD_RETURN_IF_ERROR(CheckTensorSize(what, *type.shape, limits_));
    if (id == kNoValue) return absl::OkStatus();
    result_.types[id] = type;
    if (known_ == nullptr) return absl::OkStatus();
    const auto known = known_->extents.find(id);
    if (known == known_->extents.end()) return absl::OkStatus();
    TensorType told = type;
    for (const auto& [dimension, extent] : known->second) {
      Dim& dim = (*told.shape)[dimension];
      if (!dim.is_known()) dim = Dim::Known(extent);
    }
    TENSORD_RETURN_IF_ERROR(CheckClaim(what, told, type, result_.symbols));
    TENSORD_RETURN_IF_ERROR(CheckTensorSize(what, *told.shape, limits_));
    result_.types[id] = told;
    return absl::OkStatus();
  }

  // Values that are known before the run because all inputs are.
  void ComputeSmallOutputs(const Node& node, const OpDef& op_def) {
    if (!op_def.is_pure || !OutputsAreKnown(node)) return;
    std::vector<HostTensor> inputs;
    for (ValueId id : node.inputs) {
      if (id != kNoValue && !result_.constants[id].is_present()) return;
      inputs.push_back(id == kNoValue ? HostTensor() : result_.constants[id]);
    }
    if (op_def.is_view && node.outputs.size() == 1) {
      // Costs nothing whatever its size: the bytes are shared.
      const absl::StatusOr<Shape> shape =
          ToConcrete(*result_.types[node.outputs[0]].shape);
      if (shape.ok() && inputs[0].is_present() &&
          shape->element_count() == inputs[0].shape().element_count()) {
        result_.constants[node.outputs[0]] =
            inputs[0].Reshaped(*std::move(shape));
      }
      return;
    }
    if (evaluator_ == nullptr || !IsSmall(node)) return;
    std::vector<TensorType> types;
    for (ValueId id : node.outputs) types.push_back(result_.types[id]);
    absl::StatusOr<std::vector<HostTensor>> outputs =
        evaluator_->Evaluate(node, inputs, types, budget_);
    // What cannot be computed here may still be computed in a run, or its error
    // belongs there.
    if (!outputs.ok()) return;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      result_.constants[node.outputs[i]] = std::move((*outputs)[i]);
    }
  }

  bool OutputsAreKnown(const Node& node) const {
    for (ValueId id : node.outputs) {
      if (id == kNoValue || !IsKnown(*result_.types[id].shape)) return false;
    }
    return !node.outputs.empty();
  }

  bool IsSmall(const Node& node) const {
    const auto is_small = [this](ValueId id) {
      if (id == kNoValue) return true;
      const absl::StatusOr<Shape> shape = ToConcrete(*result_.types[id].shape);
      return shape.ok() && shape->element_count() <= kMaxInferredElements;
    };
    for (ValueId id : node.inputs) {
      if (!is_small(id)) return false;
    }
    for (ValueId id : node.outputs) {
      if (!is_small(id)) return false;
    }
    return true;
  }

  absl::Status CheckOutputClaims() const {
    for (ValueId id : graph_.outputs) {
      const Value& value = graph_.values[id];
      if (value.is_input) continue;
      TENSORD_RETURN_IF_ERROR(
          CheckClaim(absl::StrCat("output ", Quoted(value.name)), value.type,
                     result_.types[id], result_.symbols));
    }
    return absl::OkStatus();
  }

  const Graph& graph_;
  const GraphLimits& limits_;
  HostEvaluator* const evaluator_;
  EvaluationBudget budget_;
  const KnownExtents* known_ = nullptr;
  Inference result_;
};

}  // namespace

absl::StatusOr<Inference> InferGraph(const Graph& graph,
                                     const GraphLimits& limits,
                                     HostEvaluator* evaluator) {
  return GraphInferrer(graph, limits, evaluator).Infer();
}

absl::StatusOr<Inference> InferGraph(const Graph& graph,
                                     absl::Span<const Shape> input_shapes,
                                     const KnownExtents& known,
                                     const GraphLimits& limits,
                                     HostEvaluator* evaluator) {
  TENSORD_RETURN_IF_ERROR(CheckInputShapes(graph, input_shapes, limits));
  GraphInferrer inferrer(graph, limits, evaluator);
  inferrer.SetInputShapes(input_shapes);
  inferrer.SetKnownExtents(known);
  return inferrer.Infer();
}

}  // namespace tensord
