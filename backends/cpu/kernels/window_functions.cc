// HannWindow, HammingWindow, BlackmanWindow: sums of cosines.
//
//   y[n] = a0 - a1 * cos(2 pi n / d) + a2 * cos(4 pi n / d)
//
// for a period d of y's extent, or one less where the window is symmetric. y is
// contiguous; its extent is the size, so input 0 is not read. Computes in
// double and rounds once; integers take the integer part. A symmetric window of
// one element, for which the formula divides by 0, is its middle: 1.

#include <cmath>
#include <cstdint>
#include <numbers>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/instantiate.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 2 * 1024;

struct Coefficients {
  double a0, a1, a2;
};

constexpr Coefficients kHann = {0.5, 0.5, 0};
constexpr Coefficients kHamming = {25.0 / 46, 21.0 / 46, 0};
constexpr Coefficients kBlackman = {0.42, 0.5, 0.08};

template <typename T>
absl::Status FillWindow(const KernelCall& call, Coefficients a) {
  const int64_t size = call.output_layout(0).shape[0];
  const bool is_periodic = std::get<WindowParams>(call.params).is_periodic;
  const int64_t period = is_periodic ? size : size - 1;
  T* y = call.output<T>(0);
  call.context.workers->ParallelFor(
      size, kGrainElements, [=](int64_t begin, int64_t end) {
        for (int64_t n = begin; n < end; ++n) {
          const double angle = 2 * std::numbers::pi * static_cast<double>(n) /
                               static_cast<double>(period);
          const double value =
              a.a0 - a.a1 * std::cos(angle) + a.a2 * std::cos(2 * angle);
          y[n] = static_cast<T>(period == 0 ? 1.0 : value);
        }
      });
  return absl::OkStatus();
}

}  // namespace

template <typename T>
absl::Status RunHannWindow(const KernelCall& call) {
  return FillWindow<T>(call, kHann);
}
template <typename T>
absl::Status RunHammingWindow(const KernelCall& call) {
  return FillWindow<T>(call, kHamming);
}
template <typename T>
absl::Status RunBlackmanWindow(const KernelCall& call) {
  return FillWindow<T>(call, kBlackman);
}

TENSORD_INSTANTIATE_NUMBERS(RunHannWindow);
TENSORD_INSTANTIATE_NUMBERS(RunHammingWindow);
TENSORD_INSTANTIATE_NUMBERS(RunBlackmanWindow);

}  // namespace tensord
