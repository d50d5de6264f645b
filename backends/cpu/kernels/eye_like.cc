// EyeLike: y[r, c] = 1 if c is r + k, else 0.
//
// y is contiguous; x gives its shape alone, and is not read.

#include <algorithm>
#include <cstdint>

#include "backends/api/float16.h"
#include "backends/api/kernel.h"

namespace tensord {

template <typename T>
absl::Status RunEyeLike(const KernelCall& call) {
  const Shape& shape = call.output_layout(0).shape;
  const int64_t rows = shape[0];
  const int64_t columns = shape[1];
  // Past the matrix every diagonal is alike; r + k must not overflow.
  const int64_t k = std::clamp(std::get<EyeLikeParams>(call.params).diagonal,
                               -rows - 1, columns + 1);
  T* y = call.output<T>(0);
  std::fill_n(y, shape.element_count(), T(0));
  const int64_t first = std::max<int64_t>(0, -k);
  const int64_t last = std::min(rows, columns - k);
  for (int64_t r = first; r < last; ++r) y[r * columns + r + k] = T(1);
  return absl::OkStatus();
}

template absl::Status RunEyeLike<float>(const KernelCall&);
template absl::Status RunEyeLike<double>(const KernelCall&);
template absl::Status RunEyeLike<Float16>(const KernelCall&);
template absl::Status RunEyeLike<BFloat16>(const KernelCall&);
template absl::Status RunEyeLike<int8_t>(const KernelCall&);
template absl::Status RunEyeLike<int16_t>(const KernelCall&);
template absl::Status RunEyeLike<int32_t>(const KernelCall&);
template absl::Status RunEyeLike<int64_t>(const KernelCall&);
template absl::Status RunEyeLike<uint8_t>(const KernelCall&);
template absl::Status RunEyeLike<uint16_t>(const KernelCall&);
template absl::Status RunEyeLike<uint32_t>(const KernelCall&);
template absl::Status RunEyeLike<uint64_t>(const KernelCall&);
template absl::Status RunEyeLike<bool>(const KernelCall&);

}  // namespace tensord
