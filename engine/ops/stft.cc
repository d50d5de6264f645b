// STFT: the spectra of frames of a signal, one each `step` elements. Inputs:
// signal [batch, signal, 1 or 2] of real or complex numbers, step, optional
// window [length] that each frame is multiplied by, optional length of a frame
// (else the window's, else the signal's). Output [batch, frames, bins, 2].

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

constexpr int kStep = 1;
constexpr int kWindow = 2;
constexpr int kLength = 3;

absl::StatusOr<OpParams> Read(NodeReader& node) {
  DftParams params;
  TENSORD_ASSIGN_OR_RETURN(params.is_one_sided, node.Bool("onesided", true));
  return params;
}

absl::Status CheckSignal(const InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 3, 3));
  const Dim parts = context.shape(0)[2];
  TENSORD_RETURN_IF_ERROR(CheckNumberParts(parts));
  if (context.params<DftParams>().is_one_sided && parts == Dim::Known(2)) {
    return absl::InvalidArgumentError(
        "a one-sided transform is of real numbers");
  }
  if (context.has_input(kWindow)) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, kWindow));
    TENSORD_RETURN_IF_ERROR(context.CheckRank(kWindow, 1, 1));
  }
  return absl::OkStatus();
}

absl::StatusOr<Dim> LengthOf(InferContext& context) {
  Dim length = context.has_input(kWindow) ? context.shape(kWindow)[0]
                                          : context.shape(0)[1];
  if (context.has_input(kLength)) {
    TENSORD_ASSIGN_OR_RETURN(
        const int64_t given,
        PositiveScalar(context, kLength, "a frame's length"));
    if (context.has_input(kWindow)) {
      TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
          "a frame's length and the window's:", Dim::Known(given), length));
    }
    length = Dim::Known(given);
  }
  if (length.is_known() && length.extent() < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a frame's length is ", length.extent(), ", below 1"));
  }
  return length;
}

absl::StatusOr<Dim> FrameCount(InferContext& context, Dim length) {
  TENSORD_ASSIGN_OR_RETURN(
      const int64_t step,
      PositiveScalar(context, kStep, "the step between frames"));
  const Dim signal = context.shape(0)[1];
  SymbolTable& symbols = context.symbols();
  const Dim starts = symbols.Subtract(signal, length);
  if (starts.is_known() && starts.extent() < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a frame of ", length.extent(),
        " elements is longer than the signal of ", signal.extent()));
  }
  return symbols.Add(symbols.FloorDivide(starts, Dim::Known(step)),
                     Dim::Known(1));
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(CheckSignal(context));
  for (int i : {kStep, kLength}) {
    if (!context.has_input(i)) continue;
    TENSORD_RETURN_IF_ERROR(context.CheckDType(i, kIndexDTypes));
    TENSORD_RETURN_IF_ERROR(context.CheckOneElement(i));
    if (context.constant(i) == nullptr) return context.NeedsValue(i);
  }
  TENSORD_ASSIGN_OR_RETURN(const Dim length, LengthOf(context));
  TENSORD_ASSIGN_OR_RETURN(const Dim frames, FrameCount(context, length));
  const Dim bins = context.params<DftParams>().is_one_sided
                       ? OneSidedBins(context, length)
                       : length;
  context.SetOutput(0, context.dtype(0),
                    {context.shape(0)[0], frames, bins, Dim::Known(2)});
  return absl::OkStatus();
}

}  // namespace

OpDef STFTDef() {
  return {.op = OpKind::kSTFT,
          .min_inputs = 2,
          .max_inputs = 4,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
