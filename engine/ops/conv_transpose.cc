// ConvTranspose: what Conv's gradient does to its input. Each element of x [N,
// C, D...] adds a copy of the kernel, scaled by it, to the output at
//
//   i * stride - pad_begin + t * dilation
//
// in each spatial dimension. w is [C, M / group, K...], the optional bias [M],
// the output [N, M, O...].
//
// Version 1's text splits an odd padding that follows from output_shape the
// other way round than version 11's, and contradicts its own description of
// auto_pad. Version 11's rule holds for all here, as in other runtimes.

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/api/window.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/conv_rules.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/op_def.h"
#include "engine/ops/window_rules.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(ConvParams params, ReadConvParams(node));
  // The standard wants it below the stride or the dilation. More of it has one
  // meaning too, so there is nothing to refuse.
  TENSORD_ASSIGN_OR_RETURN(params.output_padding,
                           ReadWindowNumbers(node, "output_padding", 0));
  TENSORD_ASSIGN_OR_RETURN(params.output_shape,
                           ReadWindowNumbers(node, "output_shape", 1));
  if (!params.output_shape.empty()) params.pads.clear();
  return params;
}

absl::Status CheckChannels(const InferContext& context, int64_t group) {
  const Dim channels = context.shape(0)[1];
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "input channels vs weights:", channels, context.shape(1)[0]));
  for (Dim dim : {channels, context.shape(1)[0]}) {
    if (dim.is_known() && dim.extent() % group != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(dim.extent(), " input channels do not divide into ",
                       group, " groups"));
    }
  }
  return absl::OkStatus();
}

// The output's extent along one spatial dimension, for a kernel that is known.
absl::StatusOr<Dim> InferDim(InferContext& context, const ConvParams& params,
                             int axis, int spatial_rank, int64_t kernel,
                             Dim input) {
  SymbolTable& symbols = context.symbols();
  const bool is_same = params.auto_pad == AutoPad::kSameUpper ||
                       params.auto_pad == AutoPad::kSameLower;
  // All but the extents is the same for every input.
  const WindowAxis window =
      ResolveTransposedWindowAxis(params, axis, spatial_rank, kernel, 1).window;
  const int64_t extra =
      params.output_padding.empty() ? 0 : params.output_padding[axis];
  const Dim scaled = symbols.Multiply(input, Dim::Known(window.stride));
  // What all the copies of the kernel cover.
  const Dim full =
      symbols.Add(scaled, Dim::Known(window.span() - window.stride + extra));
  if (full.is_known() && full.extent() > kMaxElementCount) {
    return absl::InvalidArgumentError(absl::StrCat(
        "spatial dimension ", axis, ": extent ", input.extent(), " at stride ",
        window.stride, " with a window over ", window.span(),
        " elements covers more than ", kMaxElementCount));
  }
  if (!params.output_shape.empty()) {
    const int64_t output = params.output_shape[axis];
    // Where the rest would go is not said.
    if (full.is_known() && output >= full.extent() + window.stride) {
      return absl::InvalidArgumentError(absl::StrCat(
          "spatial dimension ", axis, ": output_shape ", output, " is above ",
          full.extent() + window.stride - 1, ", the most for extent ",
          input.extent(), " at stride ", window.stride));
    }
    return Dim::Known(output);
  }
  const Dim output =
      is_same
          ? scaled
          : symbols.Add(full, Dim::Known(-window.pad_begin - window.pad_end));
  if (output.is_known() && output.extent() < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "spatial dimension ", axis, ": extent ", input.extent(), " at stride ",
        window.stride, " with a window over ", window.span(),
        " elements and pads ", window.pad_begin, " and ", window.pad_end,
        " leaves ", output.extent(), " outputs"));
  }
  return output;
}

absl::Status Infer(InferContext& context) {
  const ConvParams& params = context.params<ConvParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 1));
  if (context.has_input(2)) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 2));
  }
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 3, kMaxRank));
  const int rank = context.rank(0);
  TENSORD_RETURN_IF_ERROR(context.CheckRank(1, rank, rank));
  TENSORD_RETURN_IF_ERROR(CheckChannels(context, params.group));
  const SymbolicShape& x = context.shape(0);
  const Dim outputs =
      context.symbols().Multiply(context.shape(1)[1], Dim::Known(params.group));
  TENSORD_RETURN_IF_ERROR(CheckConvRanks(context, params, {}, outputs));
  const int spatial_rank = rank - 2;
  TENSORD_RETURN_IF_ERROR(CheckWindowList(
      "output_padding", params.output_padding, spatial_rank, spatial_rank));
  TENSORD_RETURN_IF_ERROR(CheckWindowList("output_shape", params.output_shape,
                                          spatial_rank, spatial_rank));
  SymbolicShape y = {x[0], outputs};
  for (int axis = 0; axis < spatial_rank; ++axis) {
    TENSORD_ASSIGN_OR_RETURN(const Dim kernel,
                             ConvKernelDim(context, params, {}, axis));
    if (!kernel.is_known()) {
      y.push_back(context.UnknownDim());
      continue;
    }
    TENSORD_ASSIGN_OR_RETURN(Dim output,
                             InferDim(context, params, axis, spatial_rank,
                                      kernel.extent(), x[2 + axis]));
    y.push_back(output);
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef ConvTransposeDef() {
  return {.op = OpKind::kConvTranspose,
          .min_inputs = 2,
          .max_inputs = 3,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
