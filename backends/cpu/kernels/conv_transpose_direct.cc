// ConvTranspose, the sibling of conv_transpose.cc that needs no workspace and
// takes every type: the same formula, layouts and aliasing. Gathers a stretch
// of one row of y at a time on the stack, from the inputs that reach it.
// Accumulates in the elements' own type, 16-bit ones in float32. An epilogue is
// computed over y when y is whole.

#include <algorithm>
#include <cstdint>

#include "backends/api/conv_geometry.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/kernels/is_stopped.h"

namespace tensord {
namespace {

using conv::Geometry;

constexpr int64_t kGrainProducts = 16 * 1024;

// sums[o - first] += what row (d, h) of one output channel gets, for o in
// [first, first + count). x is the group's, w the output channel's in the
// group's first input channel.
template <typename T>
void GatherRow(const Geometry& geometry, const T* x, const T* w, int64_t d,
               int64_t h, int64_t first, int64_t count, ComputeType<T>* sums) {
  const auto& [axis_d, axis_h, axis_w] = geometry.axes;
  for (int64_t tap_d = 0; tap_d < axis_d.window.kernel; ++tap_d) {
    const int64_t i_d = axis_d.InputOf(d, tap_d);
    if (i_d < 0) continue;
    for (int64_t tap_h = 0; tap_h < axis_h.window.kernel; ++tap_h) {
      const int64_t i_h = axis_h.InputOf(h, tap_h);
      if (i_h < 0) continue;
      for (int64_t c = 0; c < geometry.channels; ++c) {
        const T* row = x + c * geometry.inputs() +
                       (i_d * axis_h.input + i_h) * axis_w.input;
        const T* taps =
            w + c * geometry.rows * geometry.taps() +
            (tap_d * axis_h.window.kernel + tap_h) * axis_w.window.kernel;
        for (int64_t tap_w = 0; tap_w < axis_w.window.kernel; ++tap_w) {
          const ComputeType<T> weight = taps[tap_w];
          const int64_t stride = axis_w.window.stride;
          const int64_t shift =
              tap_w * axis_w.window.dilation - axis_w.window.pad_begin;
          const auto [begin, end] =
              axis_w.InputsInside(tap_w, 0, axis_w.input, first, first + count);
          for (int64_t i = begin; i < end; ++i) {
            sums[i * stride + shift - first] +=
                weight * static_cast<ComputeType<T>>(row[i]);
          }
        }
      }
    }
  }
}

}  // namespace

absl::Status AcceptsConvTransposeDirect(const NodeSite& site) {
  if (absl::Status status = AcceptsEpilogue(site); !status.ok()) return status;
  if (site.layouts.empty()) return absl::OkStatus();
  return conv::CheckSpatialRank(site.input(0).shape);
}

namespace {

template <typename T>
absl::Status ConvTransposeDirect(const KernelCall& call) {
  constexpr int64_t kStrip = 256;
  const Geometry geometry = conv::ResolveTransposed(
      std::get<ConvParams>(call.params), call.input_layout(0).shape,
      call.input_layout(1).shape, call.output_layout(0).shape);
  const T* x = call.input<T>(0);
  const T* w = call.input<T>(1);
  const T* bias = call.has_input(2) ? call.input<T>(2) : nullptr;
  T* y = call.output<T>(0);
  const int64_t depth_rows = geometry.axes[0].output;
  const int64_t height = geometry.axes[1].output;
  const int64_t width = geometry.axes[2].output;
  const int64_t planes = geometry.groups * geometry.rows;
  const int64_t products =
      std::max<int64_t>(width * geometry.depth(), 1);  // of a row, at most
  call.context.workers->ParallelFor(
      geometry.images * planes * depth_rows * height,
      kGrainProducts / products + 1, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t h = row % height;
          const int64_t d = row / height % depth_rows;
          const int64_t plane = row / height / depth_rows;
          const int64_t m = plane % planes;
          const int64_t group = m / geometry.rows;
          const T* x_group =
              x + plane / geometry.rows * geometry.channels * geometry.inputs();
          const T* w_plane =
              w + group * geometry.channels * geometry.rows * geometry.taps() +
              m % geometry.rows * geometry.taps();
          for (int64_t first = 0; first < width; first += kStrip) {
            if (IsStopped(call.context)) return;
            const int64_t count = std::min(kStrip, width - first);
            ComputeType<T> sums[kStrip];
            std::fill_n(sums, count,
                        bias ? static_cast<ComputeType<T>>(bias[m])
                             : ComputeType<T>{0});
            GatherRow(geometry, x_group, w_plane, d, h, first, count, sums);
            std::copy_n(sums, count, y + row * width + first);
          }
        }
      });
  return absl::OkStatus();
}

}  // namespace

template <typename T>
absl::Status RunConvTransposeDirect(const KernelCall& call) {
  return RunThenEpilogue(call, &ConvTransposeDirect<T>);
}

template absl::Status RunConvTransposeDirect<float>(const KernelCall&);
template absl::Status RunConvTransposeDirect<double>(const KernelCall&);
template absl::Status RunConvTransposeDirect<Float16>(const KernelCall&);
template absl::Status RunConvTransposeDirect<BFloat16>(const KernelCall&);

}  // namespace tensord
