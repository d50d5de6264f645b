#ifndef TENSORD_BACKENDS_CPU_KERNELS_CONV_ROWS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_CONV_ROWS_H_

#include <algorithm>
#include <cstdint>

#include "backends/api/conv_geometry.h"
#include "backends/api/host_services.h"

// Direct convolutions that sum up a stretch of one output row on the stack, in
// another type than the elements'.
//
// Everything is in this header, so that a kernel's revision covers it.
namespace tensord::conv {

// The most outputs of a stretch.
inline constexpr int64_t kRowStretch = 256;

// A stretch of an output row.
struct RowStretch {
  int64_t image_group;  // image * groups + group
  int64_t channel;      // of all output channels
  int64_t d, h;
  int64_t first;  // along the row
  int64_t count;
  int64_t output;  // element of y that the stretch begins at
};

// Calls body(stretch) for every stretch of y.
template <typename Body>
void ForRowStretches(WorkerPool& workers, const Geometry& geometry, Body body) {
  constexpr int64_t kGrainProducts = 16 * 1024;
  const int64_t depth = geometry.axes[0].output;
  const int64_t height = geometry.axes[1].output;
  const int64_t width = geometry.axes[2].output;
  const int64_t channels = geometry.groups * geometry.rows;
  const int64_t stretches = (width + kRowStretch - 1) / kRowStretch;
  // As a float, since the extents of empty tensors have no bound together.
  const double products = static_cast<double>(std::min(width, kRowStretch)) *
                          static_cast<double>(geometry.depth());
  const auto grain =
      static_cast<int64_t>(kGrainProducts / std::max(products, 1.0)) + 1;
  workers.ParallelFor(
      geometry.images * channels * depth * height * stretches, grain,
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t row = i / stretches;
          const int64_t first = i % stretches * kRowStretch;
          const int64_t plane = row / height / depth;
          body(RowStretch{.image_group = plane / geometry.rows,
                          .channel = plane % channels,
                          .d = row / height % depth,
                          .h = row % height,
                          .first = first,
                          .count = std::min(kRowStretch, width - first),
                          .output = row * width + first});
        }
      });
}

// sums[i] += what output first + i of a stretch gets from the group's channels.
// load_x(i) and load_w(i) are elements of x and of w as Sum, by their number in
// the whole tensor.
template <typename Sum, typename LoadX, typename LoadW>
void AddRow(const Geometry& geometry, const RowStretch& stretch, LoadX load_x,
            LoadW load_w, Sum* sums) {
  const auto& [axis_d, axis_h, axis_w] = geometry.axes;
  const int64_t x_group =
      stretch.image_group * geometry.channels * geometry.inputs();
  const int64_t w_row = stretch.channel * geometry.depth();
  for (int64_t tap_d = 0; tap_d < axis_d.window.kernel; ++tap_d) {
    const int64_t d = axis_d.InputAt(stretch.d, tap_d);
    if (d < 0 || d >= axis_d.input) continue;
    for (int64_t tap_h = 0; tap_h < axis_h.window.kernel; ++tap_h) {
      const int64_t h = axis_h.InputAt(stretch.h, tap_h);
      if (h < 0 || h >= axis_h.input) continue;
      for (int64_t c = 0; c < geometry.channels; ++c) {
        const int64_t x_row = x_group + c * geometry.inputs() +
                              (d * axis_h.input + h) * axis_w.input;
        const int64_t taps =
            w_row + c * geometry.taps() +
            (tap_d * axis_h.window.kernel + tap_h) * axis_w.window.kernel;
        for (int64_t tap_w = 0; tap_w < axis_w.window.kernel; ++tap_w) {
          const Sum weight = load_w(taps + tap_w);
          const auto [inside_begin, inside_end] = axis_w.OutputsInside(tap_w);
          const int64_t begin = std::max(inside_begin, stretch.first);
          const int64_t end =
              std::min(inside_end, stretch.first + stretch.count);
          const int64_t stride = axis_w.window.stride;
          const int64_t at = x_row + axis_w.InputAt(0, tap_w);
          for (int64_t o = begin; o < end; ++o) {
            sums[o - stretch.first] += weight * load_x(at + o * stride);
          }
        }
      }
    }
  }
}

}  // namespace tensord::conv

#endif  // TENSORD_BACKENDS_CPU_KERNELS_CONV_ROWS_H_
