#ifndef TENSORD_BACKENDS_CPU_KERNELS_CONV_WINDOWS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_CONV_WINDOWS_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "backends/api/conv_geometry.h"

// The matrix whose columns are a convolution's windows, [depth, outputs]: where
// its elements are in the input. Products pack it panel by panel and never
// write it out.
//
// Everything is in this header, so that a kernel's revision covers it.
namespace tensord::conv {

// The most columns of a panel.
inline constexpr int kMaxPanelColumns = 32;

// A stretch of a panel's columns that lies in one output row.
struct Run {
  int64_t column;  // in the panel
  int64_t length;
  int64_t d, h, w;  // output index of its first element
};

// Columns [n0, n0 + count) of one panel as runs; returns how many.
inline int SplitIntoRuns(const Geometry& geometry, int64_t n0, int64_t count,
                         Run* runs) {
  const int64_t width = geometry.axes[2].output;
  const int64_t height = geometry.axes[1].output;
  int run_count = 0;
  for (int64_t column = 0; column < count;) {
    const int64_t at = n0 + column;
    Run& run = runs[run_count++];
    run.column = column;
    run.w = at % width;
    run.h = at / width % height;
    run.d = at / width / height;
    run.length = std::min(width - run.w, count - column);
    column += run.length;
  }
  return run_count;
}

// The i of [0, length) for which i * stride + start lies in [0, extent).
inline std::pair<int64_t, int64_t> Inside(int64_t extent, int64_t start,
                                          int64_t stride, int64_t length) {
  const int64_t first =
      start >= 0 ? 0 : std::min(length, (-start + stride - 1) / stride);
  const int64_t room = extent - start;
  const int64_t end = room <= 0 ? 0 : (room + stride - 1) / stride;
  return {first, std::max(first, std::min(length, end))};
}

// Rows [k0, k0 + depth) and columns [n0, n0 + count) of the matrix, at most a
// panel's. Calls visit(t, run, row, start) for each stretch of matrix row k0 +
// t: its element i is the input's i * stride + start along the innermost
// dimension, 0 outside its extent, in the row that begins at element `row` of
// the group's channels; all are 0 where `row` is below 0.
template <typename Visit>
void ForWindowRows(const Geometry& geometry, int64_t n0, int64_t count,
                   int64_t k0, int64_t depth, Visit visit) {
  const auto& [axis_d, axis_h, axis_w] = geometry.axes;
  Run runs[kMaxPanelColumns];
  const int run_count = SplitIntoRuns(geometry, n0, count, runs);
  // k counts channels, then taps in d, h and w.
  int64_t tap_w = k0 % axis_w.window.kernel;
  int64_t tap_h = k0 / axis_w.window.kernel % axis_h.window.kernel;
  int64_t tap_d =
      k0 / axis_w.window.kernel / axis_h.window.kernel % axis_d.window.kernel;
  int64_t channel = k0 / geometry.taps() * geometry.inputs();
  for (int64_t t = 0; t < depth; ++t) {
    for (int r = 0; r < run_count; ++r) {
      const Run& run = runs[r];
      const int64_t d = axis_d.InputAt(run.d, tap_d);
      const int64_t h = axis_h.InputAt(run.h, tap_h);
      const bool is_inside =
          d >= 0 && d < axis_d.input && h >= 0 && h < axis_h.input;
      visit(t, run,
            is_inside ? channel + (d * axis_h.input + h) * axis_w.input : -1,
            axis_w.InputAt(run.w, tap_w));
    }
    if (++tap_w < axis_w.window.kernel) continue;
    tap_w = 0;
    if (++tap_h < axis_h.window.kernel) continue;
    tap_h = 0;
    if (++tap_d < axis_d.window.kernel) continue;
    tap_d = 0;
    channel += geometry.inputs();
  }
}

}  // namespace tensord::conv

#endif  // TENSORD_BACKENDS_CPU_KERNELS_CONV_WINDOWS_H_
