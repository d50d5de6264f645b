#include "engine/ops/conv_rules.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/api/window.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/channels_last.h"
#include "engine/ops/window_rules.h"

namespace tensord {
namespace {

absl::Status CheckChannels(const InferContext& context, Dim channels,
                           int64_t group, const ConvInputs& inputs) {
  const Dim weight_channels = context.shape(inputs.w)[1];
  const Dim outputs = context.shape(inputs.w)[0];
  // Divided rather than multiplied, which could overflow.
  if (channels.is_known() && weight_channels.is_known() &&
      (channels.extent() % group != 0 ||
       channels.extent() / group != weight_channels.extent())) {
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

}  // namespace

absl::StatusOr<ConvParams> ReadConvParams(NodeReader& node) {
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

absl::Status CheckConvRanks(InferContext& context, const ConvParams& params,
                            const ConvInputs& inputs, Dim output_channels) {
  if (context.has_input(inputs.bias)) {
    TENSORD_RETURN_IF_ERROR(context.CheckRank(inputs.bias, 1, 1));
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        "bias extent vs output channels:", context.shape(inputs.bias)[0],
        output_channels));
  }
  return CheckWindowRank(params.kernel_shape, params.strides, params.dilations,
                         params.pads, context.rank(inputs.x) - 2);
}

absl::StatusOr<Dim> ConvKernelDim(InferContext& context,
                                  const ConvParams& params,
                                  const ConvInputs& inputs, int axis) {
  Dim kernel = context.shape(inputs.w)[2 + axis];
  if (!params.kernel_shape.empty()) {
    const Dim stated = Dim::Known(params.kernel_shape[axis]);
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat("spatial dimension ", axis, ": kernel_shape vs weights:"),
        stated, kernel));
    kernel = stated;
  }
  if (kernel.is_known() &&
      (kernel.extent() < 1 || kernel.extent() > kMaxWindowNumber)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "spatial dimension ", axis, ": kernel extent ", kernel.extent(),
        " is outside [1, ", kMaxWindowNumber, "]"));
  }
  return kernel;
}

absl::StatusOr<SymbolicShape> InferConvShape(InferContext& context,
                                             const ConvParams& params,
                                             const ConvInputs& inputs) {
  TENSORD_RETURN_IF_ERROR(context.CheckRank(inputs.x, 3, kMaxRank));
  const int rank = context.rank(inputs.x);
  TENSORD_RETURN_IF_ERROR(context.CheckRank(inputs.w, rank, rank));
  const SymbolicShape x = params.channels_last
                              ? ToChannelsFirst(context.shape(inputs.x))
                              : context.shape(inputs.x);
  TENSORD_RETURN_IF_ERROR(CheckChannels(context, x[1], params.group, inputs));
  const SymbolicShape& w = context.shape(inputs.w);
  TENSORD_RETURN_IF_ERROR(CheckConvRanks(context, params, inputs, w[0]));

  const int spatial_rank = rank - 2;
  SymbolicShape y = {x[0], w[0]};
  for (int axis = 0; axis < spatial_rank; ++axis) {
    TENSORD_ASSIGN_OR_RETURN(const Dim kernel,
                             ConvKernelDim(context, params, inputs, axis));
    if (!kernel.is_known()) {
      y.push_back(context.UnknownDim());
      continue;
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
  if (params.channels_last) return ToChannelsLast(std::move(y));
  return y;
}

}  // namespace tensord
