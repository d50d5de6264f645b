// Range: y[i] = start + i * delta.
//
// The inputs are start, limit and delta, of one element each; y's extent says
// how many there are, so the limit is not read. Computes in the elements' own
// type, 16-bit floats in float32; no element is past the limit, so integers do
// not overflow.

#include <cstdint>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/wrapping.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 32 * 1024;

}  // namespace

template <typename T>
absl::Status RunRange(const KernelCall& call) {
  using U = Wrapping<T>;
  const auto start = static_cast<U>(*call.input<T>(0));
  const auto delta = static_cast<U>(*call.input<T>(2));
  T* y = call.output<T>(0);
  call.context.workers->ParallelFor(
      call.output_layout(0).shape.element_count(), kGrainElements,
      [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          y[i] = static_cast<T>(start + static_cast<U>(i) * delta);
        }
      });
  return absl::OkStatus();
}

template absl::Status RunRange<float>(const KernelCall&);
template absl::Status RunRange<double>(const KernelCall&);
template absl::Status RunRange<Float16>(const KernelCall&);
template absl::Status RunRange<BFloat16>(const KernelCall&);
template absl::Status RunRange<int16_t>(const KernelCall&);
template absl::Status RunRange<int32_t>(const KernelCall&);
template absl::Status RunRange<int64_t>(const KernelCall&);

}  // namespace tensord
