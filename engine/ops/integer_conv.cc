// ConvInteger and QLinearConv: convolutions of 8-bit integers. ConvInteger has
// inputs x, w, x_zero_point, w_zero_point and gives the sums in int32;
// QLinearConv has x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale,
// y_zero_point, bias and gives integers again. Shapes are Conv's.

#include <utility>

#include "engine/graph/status_macros.h"
#include "engine/ops/conv_rules.h"
#include "engine/ops/integer_rules.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(ConvParams params, ReadConvParams(node));
  return params;
}

absl::Status InferConvInteger(InferContext& context) {
  constexpr int kNoBias = 4;
  for (int i : {0, 1}) {
    TENSORD_RETURN_IF_ERROR(CheckBytes(context, i));
    TENSORD_RETURN_IF_ERROR(CheckZeroPoint(context, 2 + i, i));
  }
  if (context.has_input(2)) {
    TENSORD_RETURN_IF_ERROR(context.CheckOneElement(2));
  }
  TENSORD_ASSIGN_OR_RETURN(SymbolicShape y,
                           InferConvShape(context, context.params<ConvParams>(),
                                          {.x = 0, .w = 1, .bias = kNoBias}));
  TENSORD_RETURN_IF_ERROR(
      CheckPerChannel(context, 3, "zero points", context.shape(1)[0]));
  context.SetOutput(0, DType::kInt32, std::move(y));
  return absl::OkStatus();
}

absl::Status InferQLinearConv(InferContext& context) {
  enum { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };
  for (int i : {kX, kW, kYZero}) {
    TENSORD_RETURN_IF_ERROR(CheckBytes(context, i));
  }
  TENSORD_RETURN_IF_ERROR(CheckZeroPoint(context, kXZero, kX));
  TENSORD_RETURN_IF_ERROR(CheckZeroPoint(context, kWZero, kW));
  for (int i : {kXScale, kWScale, kYScale}) {
    TENSORD_RETURN_IF_ERROR(context.CheckDType(i, {DType::kFloat32}));
  }
  for (int i : {kXScale, kXZero, kYScale, kYZero}) {
    TENSORD_RETURN_IF_ERROR(context.CheckOneElement(i));
  }
  if (context.has_input(kBias)) {
    TENSORD_RETURN_IF_ERROR(context.CheckDType(kBias, {DType::kInt32}));
  }
  TENSORD_ASSIGN_OR_RETURN(SymbolicShape y,
                           InferConvShape(context, context.params<ConvParams>(),
                                          {.x = kX, .w = kW, .bias = kBias}));
  const Dim channels = context.shape(kW)[0];
  TENSORD_RETURN_IF_ERROR(
      CheckPerChannel(context, kWScale, "scales", channels));
  TENSORD_RETURN_IF_ERROR(
      CheckPerChannel(context, kWZero, "zero points", channels));
  context.SetOutput(0, context.dtype(kYZero), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef ConvIntegerDef() {
  return {.op = OpKind::kConvInteger,
          .min_inputs = 2,
          .max_inputs = 4,
          .read = &Read,
          .infer = &InferConvInteger};
}

OpDef QLinearConvDef() {
  return {.op = OpKind::kQLinearConv,
          .min_inputs = 8,
          .max_inputs = 9,
          .read = &Read,
          .infer = &InferQLinearConv};
}

}  // namespace tensord
