// Clip.
//
//   y[i] = min(max(x[i], low), high)
//
// x and y are contiguous, have the same shape, and may be the same buffer; the
// bounds have one element each, and an absent one does not bind. Where low is
// above high, high wins. A NaN stays a NaN.

#include <cstdint>
#include <limits>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"

namespace tensord {
namespace {

constexpr int64_t kGrain = 32 * 1024;

}  // namespace

template <typename T>
absl::Status RunClip(const KernelCall& call) {
  using Limits = std::numeric_limits<T>;
  constexpr T kLeast =
      Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  constexpr T kMost = Limits::has_infinity ? Limits::infinity() : Limits::max();
  const T low = call.has_input(1) ? *call.input<T>(1) : kLeast;
  const T high = call.has_input(2) ? *call.input<T>(2) : kMost;
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  call.context.workers->ParallelFor(call.output_layout(0).shape.element_count(),
                                    kGrain, [=](int64_t begin, int64_t end) {
                                      for (int64_t i = begin; i < end; ++i) {
                                        const T raised =
                                            x[i] < low ? low : x[i];
                                        y[i] = high < raised ? high : raised;
                                      }
                                    });
  return absl::OkStatus();
}

template absl::Status RunClip<float>(const KernelCall&);
template absl::Status RunClip<double>(const KernelCall&);
template absl::Status RunClip<int8_t>(const KernelCall&);
template absl::Status RunClip<int16_t>(const KernelCall&);
template absl::Status RunClip<int32_t>(const KernelCall&);
template absl::Status RunClip<int64_t>(const KernelCall&);
template absl::Status RunClip<uint8_t>(const KernelCall&);
template absl::Status RunClip<uint16_t>(const KernelCall&);
template absl::Status RunClip<uint32_t>(const KernelCall&);
template absl::Status RunClip<uint64_t>(const KernelCall&);

}  // namespace tensord
