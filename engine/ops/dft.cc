// DFT: the discrete Fourier transform along one axis, or its inverse. Inputs: x
// [..., 1 or 2] of real or complex numbers, optional length (zeros are added,
// or elements left out), optional axis; before operator set 20 the axis is an
// attribute. Output [..., 2]; the one-sided transform of real numbers stores
// half of the spectrum, and its inverse real numbers, [..., 1].

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"
#include "engine/ops/signal_rules.h"

namespace tensord {
namespace {

constexpr int kLength = 1;
constexpr int kAxis = 2;

absl::StatusOr<OpParams> Read(NodeReader& node) {
  DftParams params;
  if (node.opset() < 20) {
    if (node.input_count() > kAxis) {
      return absl::InvalidArgumentError(
          "input 2 (axis) is allowed from operator set 20 on");
    }
    TENSORD_ASSIGN_OR_RETURN(params.axis, node.Int("axis", 1));
  }
  TENSORD_ASSIGN_OR_RETURN(params.is_inverse, node.Bool("inverse", false));
  TENSORD_ASSIGN_OR_RETURN(params.is_one_sided, node.Bool("onesided", false));
  return params;
}

// Not the last dimension, which holds the parts of a number.
absl::StatusOr<int> SignalAxis(const InferContext& context) {
  int64_t axis = context.params<DftParams>().axis;
  if (context.has_input(kAxis)) axis = ConstantIntegers(context, kAxis)[0];
  const int rank = context.rank(0);
  TENSORD_ASSIGN_OR_RETURN(const int normal, context.NormalizeAxis(axis, rank));
  if (normal == rank - 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", axis, " is that of the numbers' parts"));
  }
  return normal;
}

absl::Status CheckParts(const InferContext& context) {
  const DftParams& params = context.params<DftParams>();
  const Dim parts = context.shape(0)[context.rank(0) - 1];
  TENSORD_RETURN_IF_ERROR(CheckNumberParts(parts));
  if (!params.is_one_sided || !parts.is_known()) return absl::OkStatus();
  if (parts.extent() == (params.is_inverse ? 2 : 1)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      params.is_inverse
          ? "the inverse of a one-sided transform is of complex numbers"
          : "a one-sided transform is of real numbers");
}

absl::StatusOr<Dim> LengthOf(InferContext& context, int axis) {
  if (context.has_input(kLength)) {
    TENSORD_ASSIGN_OR_RETURN(
        const int64_t length,
        PositiveScalar(context, kLength, "the transform's length"));
    return Dim::Known(length);
  }
  const DftParams& params = context.params<DftParams>();
  Dim length = context.shape(0)[axis];
  if (params.is_inverse && params.is_one_sided) {
    SymbolTable& symbols = context.symbols();
    length = symbols.Multiply(symbols.Subtract(length, Dim::Known(1)),
                              Dim::Known(2));
  }
  if (length.is_known() && length.extent() < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the transform's length is ", length.extent(), ", below 1"));
  }
  return length;
}

absl::Status Infer(InferContext& context) {
  const DftParams& params = context.params<DftParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 2, kMaxRank));
  TENSORD_RETURN_IF_ERROR(CheckParts(context));
  for (int i : {kLength, kAxis}) {
    if (!context.has_input(i)) continue;
    TENSORD_RETURN_IF_ERROR(i == kAxis ? context.CheckDType(i, kInt64Only)
                                       : context.CheckDType(i, kIndexDTypes));
    TENSORD_RETURN_IF_ERROR(context.CheckOneElement(i));
    if (context.constant(i) == nullptr) return context.NeedsValue(i);
  }
  TENSORD_ASSIGN_OR_RETURN(const int axis, SignalAxis(context));
  TENSORD_ASSIGN_OR_RETURN(const Dim length, LengthOf(context, axis));
  SymbolicShape y = context.shape(0);
  y[axis] = params.is_one_sided && !params.is_inverse
                ? OneSidedBins(context, length)
                : length;
  y.back() = Dim::Known(params.is_one_sided && params.is_inverse ? 1 : 2);
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef DFTDef() {
  return {.op = OpKind::kDFT,
          .min_inputs = 1,
          .max_inputs = 3,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
