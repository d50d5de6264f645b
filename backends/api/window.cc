#include "backends/api/window.h"

#include <algorithm>

namespace tensord {
namespace {

int64_t At(const Dims& values, int index, int64_t absent) {
  return values.empty() ? absent : values[index];
}

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

WindowAxis Resolve(const Dims& strides, const Dims& dilations, const Dims& pads,
                   AutoPad auto_pad, int axis, int spatial_rank, int64_t kernel,
                   int64_t input_extent) {
  WindowAxis window;
  window.kernel = kernel;
  window.stride = At(strides, axis, 1);
  window.dilation = At(dilations, axis, 1);
  switch (auto_pad) {
    case AutoPad::kNotSet:
      window.pad_begin = At(pads, axis, 0);
      window.pad_end = At(pads, spatial_rank + axis, 0);
      break;
    case AutoPad::kValid:
      break;
    case AutoPad::kSameUpper:
    case AutoPad::kSameLower: {
      // As much as it takes for ceil(extent / stride) windows. The odd element
      // goes to the end with SAME_UPPER.
      const int64_t outputs = CeilDivide(input_extent, window.stride);
      const int64_t total = std::max<int64_t>(
          (outputs - 1) * window.stride + window.span() - input_extent, 0);
      const int64_t smaller = total / 2;
      const bool is_upper = auto_pad == AutoPad::kSameUpper;
      window.pad_begin = is_upper ? smaller : total - smaller;
      window.pad_end = total - window.pad_begin;
      break;
    }
  }
  return window;
}

}  // namespace

int64_t WindowAxis::OutputExtent(int64_t input_extent, bool ceil_mode) const {
  const int64_t room = input_extent + pad_begin + pad_end - span();
  if (room < 0) return 0;
  if (!ceil_mode) return room / stride + 1;
  const int64_t outputs = CeilDivide(room, stride) + 1;
  const bool last_starts_in_end_padding =
      (outputs - 1) * stride >= input_extent + pad_begin;
  return last_starts_in_end_padding ? outputs - 1 : outputs;
}

WindowAxis ResolveWindowAxis(const ConvParams& params, int axis,
                             int spatial_rank, int64_t kernel,
                             int64_t input_extent) {
  return Resolve(params.strides, params.dilations, params.pads, params.auto_pad,
                 axis, spatial_rank, kernel, input_extent);
}

WindowAxis ResolveWindowAxis(const PoolParams& params, int axis,
                             int spatial_rank, int64_t input_extent) {
  return Resolve(params.strides, params.dilations, params.pads, params.auto_pad,
                 axis, spatial_rank, params.kernel_shape[axis], input_extent);
}

TransposedWindowAxis ResolveTransposedWindowAxis(const ConvParams& params,
                                                 int axis, int spatial_rank,
                                                 int64_t kernel,
                                                 int64_t input_extent) {
  WindowAxis window;
  window.kernel = kernel;
  window.stride = At(params.strides, axis, 1);
  window.dilation = At(params.dilations, axis, 1);
  const int64_t covered = window.stride * (input_extent - 1) + window.span() +
                          At(params.output_padding, axis, 0);
  const bool is_same = params.auto_pad == AutoPad::kSameUpper ||
                       params.auto_pad == AutoPad::kSameLower;
  if (params.output_shape.empty() && !is_same) {
    window.pad_begin = At(params.pads, axis, 0);
    window.pad_end = At(params.pads, spatial_rank + axis, 0);
    return {window, covered - window.pad_begin - window.pad_end};
  }
  const int64_t output =
      At(params.output_shape, axis, input_extent * window.stride);
  const int64_t total = std::max<int64_t>(covered - output, 0);
  const int64_t smaller = total / 2;
  window.pad_begin =
      params.auto_pad == AutoPad::kSameUpper ? smaller : total - smaller;
  window.pad_end = total - window.pad_begin;
  return {window, output};
}

}  // namespace tensord
