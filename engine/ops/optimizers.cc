// Adagrad, Adam, Momentum, of the domain ai.onnx.preview.training: one step of
// an optimizer. Inputs are the learning rate, how many steps there were, then
// all tensors to optimize, all their gradients, and for each state of the
// optimizer those of all tensors; outputs are the new tensors and states.

#include <string>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr int kRate = 0;
constexpr int kStep = 1;
constexpr int kFirstTensor = 2;

constexpr DType kOptimizedDTypes[] = {DType::kFloat32, DType::kFloat64};

absl::StatusOr<float> ReadRequired(NodeReader& node, absl::string_view name) {
  if (node.Has(name)) return node.Float(name, 0);
  return absl::InvalidArgumentError(
      absl::StrCat("attribute '", name, "' is missing"));
}

absl::StatusOr<OpParams> ReadAdagrad(NodeReader& node) {
  OptimizerParams params;
  TENSORD_ASSIGN_OR_RETURN(params.decay_factor, node.Float("decay_factor", 0));
  TENSORD_ASSIGN_OR_RETURN(params.epsilon, node.Float("epsilon", 0));
  TENSORD_ASSIGN_OR_RETURN(params.norm_coefficient,
                           node.Float("norm_coefficient", 0));
  return params;
}

absl::StatusOr<OpParams> ReadAdam(NodeReader& node) {
  OptimizerParams params;
  TENSORD_ASSIGN_OR_RETURN(params.alpha, node.Float("alpha", 0.9f));
  TENSORD_ASSIGN_OR_RETURN(params.beta, node.Float("beta", 0.999f));
  TENSORD_ASSIGN_OR_RETURN(params.epsilon, node.Float("epsilon", 0));
  TENSORD_ASSIGN_OR_RETURN(params.norm_coefficient,
                           node.Float("norm_coefficient", 0));
  TENSORD_ASSIGN_OR_RETURN(params.norm_coefficient_post,
                           node.Float("norm_coefficient_post", 0));
  return params;
}

absl::StatusOr<OpParams> ReadMomentum(NodeReader& node) {
  OptimizerParams params;
  TENSORD_ASSIGN_OR_RETURN(params.alpha, ReadRequired(node, "alpha"));
  TENSORD_ASSIGN_OR_RETURN(params.beta, ReadRequired(node, "beta"));
  TENSORD_ASSIGN_OR_RETURN(params.norm_coefficient,
                           ReadRequired(node, "norm_coefficient"));
  TENSORD_ASSIGN_OR_RETURN(const std::string mode, node.String("mode", ""));
  if (mode != "standard" && mode != "nesterov") {
    return absl::InvalidArgumentError(absl::StrCat(
        "attribute 'mode' is ", Quoted(mode), ", not standard or nesterov"));
  }
  params.is_nesterov = mode == "nesterov";
  return params;
}

// Operand `i` of tensor `tensor` has its type.
absl::Status CheckLikeTensor(const InferContext& context, int i, int tensor) {
  if (i == tensor) return context.CheckDType(i, kOptimizedDTypes);
  const int rank = context.rank(tensor);
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(tensor, i));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(i, rank, rank));
  for (int d = 0; d < rank; ++d) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat("dimension ", d, " of input ", i, " should be that of ",
                     "input ", tensor, ":"),
        context.shape(tensor)[d], context.shape(i)[d]));
  }
  return absl::OkStatus();
}

// Of an optimizer with this many states for each tensor.
template <int kStates>
absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(kRate, kOptimizedDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckOneElement(kRate));
  TENSORD_RETURN_IF_ERROR(context.CheckDType(kStep, kInt64Only));
  TENSORD_RETURN_IF_ERROR(context.CheckOneElement(kStep));
  const int operands = context.input_count() - kFirstTensor;
  const int tensors = operands / (2 + kStates);
  if (operands % (2 + kStates) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        operands, " inputs behind the first ", kFirstTensor,
        " are no multiple of ", 2 + kStates, ", what each tensor has"));
  }
  if (context.output_count() > tensors * (1 + kStates)) {
    return absl::InvalidArgumentError(
        absl::StrCat(context.output_count(), " outputs, where ", tensors,
                     " tensors have ", tensors * (1 + kStates)));
  }
  for (int i = 0; i < operands; ++i) {
    TENSORD_RETURN_IF_ERROR(
        CheckLikeTensor(context, kFirstTensor + i, kFirstTensor + i % tensors));
  }
  for (int i = 0; i < context.output_count(); ++i) {
    const int tensor = kFirstTensor + i % tensors;
    context.SetOutput(i, context.dtype(tensor), context.shape(tensor));
  }
  return absl::OkStatus();
}

template <int kStates>
OpDef Def(OpKind op, absl::StatusOr<OpParams> (*read)(NodeReader&)) {
  return {.op = op,
          .min_inputs = kFirstTensor + 2 + kStates,
          .max_inputs = OpDef::kVariadic,
          .max_outputs = OpDef::kVariadic,
          .read = read,
          .infer = &Infer<kStates>};
}

}  // namespace

OpDef AdagradDef() { return Def<1>(OpKind::kAdagrad, &ReadAdagrad); }
OpDef AdamDef() { return Def<2>(OpKind::kAdam, &ReadAdam); }
OpDef MomentumDef() { return Def<1>(OpKind::kMomentum, &ReadMomentum); }

}  // namespace tensord
