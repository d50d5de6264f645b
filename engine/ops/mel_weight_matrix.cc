// MelWeightMatrix: weights that turn a spectrum into bands that are evenly
// spaced in mel. Inputs, one element each: bands, length of the DFT, sample
// rate, lower and upper edge in hertz. Output [length / 2 + 1, bands].

#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"
#include "engine/ops/signal_rules.h"

namespace tensord {
namespace {

constexpr int kBands = 0;
constexpr int kLength = 1;
constexpr int kLowerEdge = 3;

absl::StatusOr<OpParams> Read(NodeReader& node) {
  WindowParams params;  // its dtype alone
  TENSORD_ASSIGN_OR_RETURN(params.dtype, ReadOutputDType(node));
  return params;
}

absl::Status Infer(InferContext& context) {
  for (int i = 0; i < context.input_count(); ++i) {
    TENSORD_RETURN_IF_ERROR(i < kLowerEdge
                                ? context.CheckDType(i, kIndexDTypes)
                                : context.CheckDType(i, kFloatDTypes));
    TENSORD_RETURN_IF_ERROR(context.CheckOneElement(i));
  }
  for (int i : {kBands, kLength}) {
    if (context.constant(i) == nullptr) return context.NeedsValue(i);
  }
  TENSORD_ASSIGN_OR_RETURN(
      const int64_t bands,
      PositiveScalar(context, kBands, "the number of bands"));
  TENSORD_ASSIGN_OR_RETURN(
      const int64_t length,
      PositiveScalar(context, kLength, "the transform's length"));
  context.SetOutput(
      0, context.params<WindowParams>().dtype,
      {OneSidedBins(context, Dim::Known(length)), Dim::Known(bands)});
  return absl::OkStatus();
}

}  // namespace

OpDef MelWeightMatrixDef() {
  return {.op = OpKind::kMelWeightMatrix,
          .min_inputs = 5,
          .max_inputs = 5,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
