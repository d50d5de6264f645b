// LpNormalization along one dimension.
//
//   y[o, c, i] = x[o, c, i] / norm, 0 where the norm is 0
//
// The norm is the sum over c of |x[o, c, i]| for p = 1, the square root of the
// sum of squares for p = 2. x and y are contiguous, seen as [outer, extent of
// the axis, inner], and may be the same buffer. Computes in float64.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/api/axis_view.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/row_sums.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 8 * 1024;

// Lines side by side, since their elements are neighbours in memory; as many as
// keep the sums in cache.
constexpr int64_t kSideBySide = 64;

double Term(int64_t p, double v) { return p == 1 ? std::abs(v) : v * v; }

template <typename T>
T Divide(T x, double norm) {
  return norm == 0 ? T(0) : static_cast<T>(static_cast<double>(x) / norm);
}

template <typename T>
void Line(const T* x, T* y, int64_t count, int64_t p) {
  const double sum = p == 1
                         ? SumOf(x, count, [](double v) { return std::abs(v); })
                         : SumOf(x, count, [](double v) { return v * v; });
  const double norm = p == 1 ? sum : std::sqrt(sum);
  for (int64_t i = 0; i < count; ++i) y[i] = Divide(x[i], norm);
}

template <typename T>
void Strip(const T* x, T* y, const AxisView& view, int64_t width, int64_t p) {
  double norms[kSideBySide] = {};
  for (int64_t c = 0; c < view.extent; ++c) {
    const T* row = x + c * view.inner;
    for (int64_t i = 0; i < width; ++i) {
      norms[i] += Term(p, static_cast<double>(row[i]));
    }
  }
  for (int64_t i = 0; i < width && p == 2; ++i) norms[i] = std::sqrt(norms[i]);
  for (int64_t c = 0; c < view.extent; ++c) {
    for (int64_t i = 0; i < width; ++i) {
      y[c * view.inner + i] = Divide(x[c * view.inner + i], norms[i]);
    }
  }
}

}  // namespace

template <typename T>
absl::Status RunLpNormalization(const KernelCall& call) {
  const auto& params = std::get<LpNormalizationParams>(call.params);
  const AxisView view(call.input_layout(0).shape, params.axis);
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  const int64_t strips = (view.inner + kSideBySide - 1) / kSideBySide;
  const int64_t width_at_most = std::clamp<int64_t>(view.inner, 1, kSideBySide);
  call.context.workers->ParallelFor(
      view.outer * strips,
      kGrainElements / (std::max<int64_t>(view.extent, 1) * width_at_most) + 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t first = task % strips * kSideBySide;
          const int64_t at = task / strips * view.extent * view.inner + first;
          if (view.inner == 1) {
            Line(x + at, y + at, view.extent, params.p);
          } else {
            Strip(x + at, y + at, view,
                  std::min(kSideBySide, view.inner - first), params.p);
          }
        }
      });
  return absl::OkStatus();
}

template absl::Status RunLpNormalization<float>(const KernelCall&);
template absl::Status RunLpNormalization<double>(const KernelCall&);
template absl::Status RunLpNormalization<Float16>(const KernelCall&);
template absl::Status RunLpNormalization<BFloat16>(const KernelCall&);

}  // namespace tensord
