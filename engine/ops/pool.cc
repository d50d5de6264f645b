// MaxPool, AveragePool, LpPool: the largest, the mean or the p-norm of each
// window over the spatial dimensions of [N, C, D...]. The global forms have one
// window, the whole. MaxPool's optional second output is where the largest was.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/channels_last.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/op_def.h"
#include "engine/ops/window_rules.h"

namespace tensord {
namespace {

constexpr DType kMaxPoolDTypes[] = {DType::kFloat32, DType::kFloat64,
                                    DType::kFloat16, DType::kBFloat16,
                                    DType::kInt8,    DType::kUInt8};

absl::StatusOr<PoolParams> ReadPool(NodeReader& node, bool has_dilations,
                                    bool has_ceil_mode) {
  TENSORD_ASSIGN_OR_RETURN(WindowAttributes window,
                           ReadWindowAttributes(node, has_dilations));
  if (window.kernel_shape.empty()) {
    return absl::InvalidArgumentError("attribute 'kernel_shape' is missing");
  }
  PoolParams params{.kernel_shape = std::move(window.kernel_shape),
                    .strides = std::move(window.strides),
                    .dilations = std::move(window.dilations),
                    .pads = std::move(window.pads),
                    .auto_pad = window.auto_pad};
  if (has_ceil_mode) {
    TENSORD_ASSIGN_OR_RETURN(params.ceil_mode, node.Bool("ceil_mode", false));
  }
  return params;
}

absl::StatusOr<OpParams> ReadMaxPool(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(PoolParams params,
                           ReadPool(node, /*has_dilations=*/node.opset() >= 10,
                                    /*has_ceil_mode=*/node.opset() >= 10));
  if (node.opset() >= 8) {
    TENSORD_ASSIGN_OR_RETURN(params.indices_are_column_major,
                             node.Bool("storage_order", false));
  }
  return params;
}

absl::StatusOr<OpParams> ReadAveragePool(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(PoolParams params,
                           ReadPool(node, /*has_dilations=*/node.opset() >= 19,
                                    /*has_ceil_mode=*/node.opset() >= 10));
  TENSORD_ASSIGN_OR_RETURN(params.count_include_pad,
                           node.Bool("count_include_pad", false));
  return params;
}

// The p of a p-norm.
absl::Status ReadNorm(NodeReader& node, PoolParams& params) {
  TENSORD_ASSIGN_OR_RETURN(params.p, node.Int("p", 2));
  if (params.p >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("attribute 'p' is ", params.p, ", below 1"));
}

absl::StatusOr<OpParams> ReadLpPool(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(PoolParams params,
                           ReadPool(node, /*has_dilations=*/node.opset() >= 18,
                                    /*has_ceil_mode=*/node.opset() >= 18));
  TENSORD_RETURN_IF_ERROR(ReadNorm(node, params));
  return params;
}

absl::StatusOr<OpParams> ReadGlobalPool(NodeReader&) {
  const PoolParams params;
  return params;
}

absl::StatusOr<OpParams> ReadGlobalLpPool(NodeReader& node) {
  PoolParams params;
  TENSORD_RETURN_IF_ERROR(ReadNorm(node, params));
  return params;
}

absl::Status InferPool(InferContext& context) {
  const PoolParams& params = context.params<PoolParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 3, kMaxRank));
  const SymbolicShape x = params.channels_last
                              ? ToChannelsFirst(context.shape(0))
                              : context.shape(0);
  const int spatial_rank = context.rank(0) - 2;
  TENSORD_RETURN_IF_ERROR(CheckWindowRank(params.kernel_shape, params.strides,
                                          params.dilations, params.pads,
                                          spatial_rank));
  SymbolicShape y = {x[0], x[1]};
  for (int axis = 0; axis < spatial_rank; ++axis) {
    const Dim extent = x[2 + axis];
    const WindowAxis window = ResolveWindowAxis(
        params, axis, spatial_rank, extent.is_known() ? extent.extent() : 1);
    TENSORD_ASSIGN_OR_RETURN(
        Dim output, InferWindowDim(context, axis, window, params.auto_pad,
                                   params.ceil_mode, extent));
    y.push_back(output);
  }
  if (params.channels_last) y = ToChannelsLast(std::move(y));
  if (context.output_count() > 1) context.SetOutput(1, DType::kInt64, y);
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

absl::Status InferMaxPool(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kMaxPoolDTypes));
  return InferPool(context);
}

absl::Status InferFloatPool(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  return InferPool(context);
}

absl::Status InferGlobalPool(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 3, kMaxRank));
  SymbolicShape y = context.shape(0);
  const int first = context.params<PoolParams>().channels_last ? 1 : 2;
  for (int i = first; i < first + context.rank(0) - 2; ++i) {
    if (y[i] == Dim::Known(0)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "spatial dimension ", i - first, " has extent 0: nothing to pool"));
    }
    y[i] = Dim::Known(1);
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

OpDef GlobalPool(OpKind op) {
  return {.op = op,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &ReadGlobalPool,
          .infer = &InferGlobalPool};
}

}  // namespace

OpDef MaxPoolDef() {
  return {.op = OpKind::kMaxPool,
          .min_inputs = 1,
          .max_inputs = 1,
          .max_outputs = 2,
          .read = &ReadMaxPool,
          .infer = &InferMaxPool};
}

OpDef AveragePoolDef() {
  return {.op = OpKind::kAveragePool,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &ReadAveragePool,
          .infer = &InferFloatPool};
}

OpDef LpPoolDef() {
  return {.op = OpKind::kLpPool,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &ReadLpPool,
          .infer = &InferFloatPool};
}

OpDef GlobalLpPoolDef() {
  OpDef def = GlobalPool(OpKind::kGlobalLpPool);
  def.read = &ReadGlobalLpPool;
  return def;
}

OpDef GlobalAveragePoolDef() { return GlobalPool(OpKind::kGlobalAveragePool); }
OpDef GlobalMaxPoolDef() { return GlobalPool(OpKind::kGlobalMaxPool); }

}  // namespace tensord
