// Conv: y[n, m] = bias[m] + sum over c of x[n, c] cross-correlated with w[m,
// c], channels in `group` groups. Inputs x [N, C, D...], w [M, C / group,
// K...], optional bias [M]; output [N, M, O...].

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/op_list.h"
#include "engine/ops/window_rules.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(WindowAttributes window,
                           ReadWindowAttributes(node, /*has_dilations=*/true));
  TENSORD_ASSIGN_OR_RETURN(const int64_t group, node.Int("group", 1));
  if (group < 1 || group > kMaxWindowNumber) {
    return absl::InvalidArgumentError(absl::StrCat("attribute 'group' is ",
                                                   group, ", outside [1, ",
                                                   kMaxWindowNumber, "]"));
  }
  return ConvParams{.kernel_shape = std::move(window.kernel_shape),
                    .strides = std::move(window.strides),
                    .dilations = std::move(window.dilations),
                    .pads = std::move(window.pads),
                    .group = group,
                    .auto_pad = window.auto_pad};
}

absl::Status CheckChannels(const InferContext& context, int64_t group) {
  const Dim channels = context.shape(0)[1];
  const Dim weight_channels = context.shape(1)[1];
  const Dim outputs = context.shape(1)[0];
  if (channels.is_known() && weight_channels.is_known() &&
      channels.extent() != weight_channels.extent() * group) {
    return absl::InvalidArgumentError(absl::StrCat(
        "input channels ", channels.extent(), " vs weight channels ",
        weight_channels.extent(), " in ", group, " groups"));
  }
  if (outputs.is_known() && outputs.extent() % group != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(outputs.extent(), " output channels do not divide into ",
                     group, " groups"));
  }
  return absl::OkStatus();
}

absl::Status Infer(InferContext& context) {
  const ConvParams& params = context.params<ConvParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 1));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 3, kMaxRank));
  TENSORD_RETURN_IF_ERROR(
      context.CheckRank(1, context.rank(0), context.rank(0)));
  TENSORD_RETURN_IF_ERROR(CheckChannels(context, params.group));
  const SymbolicShape& x = context.shape(0);
  const SymbolicShape& w = context.shape(1);
  if (context.has_input(2)) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 2));
    TENSORD_RETURN_IF_ERROR(context.CheckRank(2, 1, 1));
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        "bias extent vs output channels:", context.shape(2)[0], w[0]));
  }

  const int spatial_rank = context.rank(0) - 2;
  TENSORD_RETURN_IF_ERROR(CheckWindowRank(params.kernel_shape, params.strides,
                                          params.dilations, params.pads,
                                          spatial_rank));
  SymbolicShape y = {x[0], w[0]};
  for (int axis = 0; axis < spatial_rank; ++axis) {
    Dim kernel = w[2 + axis];
    if (!params.kernel_shape.empty()) {
      const Dim stated = Dim::Known(params.kernel_shape[axis]);
      TENSORD_RETURN_IF_ERROR(
          context.CheckSameDim(absl::StrCat("spatial dimension ", axis,
                                            ": kernel_shape vs weights:"),
                               stated, kernel));
      kernel = stated;
    }
    if (!kernel.is_known()) {
      y.push_back(context.UnknownDim());
      continue;
    }
    if (kernel.extent() < 1 || kernel.extent() > kMaxWindowNumber) {
      return absl::InvalidArgumentError(absl::StrCat(
          "spatial dimension ", axis, ": kernel extent ", kernel.extent(),
          " is outside [1, ", kMaxWindowNumber, "]"));
    }
    const Dim extent = x[2 + axis];
    const WindowAxis window =
        ResolveWindowAxis(params, axis, spatial_rank, kernel.extent(),
                          extent.is_known() ? extent.extent() : 1);
    TENSORD_ASSIGN_OR_RETURN(
        Dim output, InferWindowDim(context, axis, window, params.auto_pad,
                                   /*ceil_mode=*/false, extent));
    y.push_back(output);
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef ConvDef() {
  return {.op = OpKind::kConv,
          .min_inputs = 2,
          .max_inputs = 3,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
