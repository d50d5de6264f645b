// PRelu.
//
//   y[i] = x[i] where x[i] >= 0, slope[i] * x[i] else
//
// x and slope are inputs 0 and 1; slope is broadcast to x's shape, which is
// y's. All are contiguous; y may be the buffer of an input of its own size.
// Computes in the elements' own type, 16-bit floats in float32; integers wrap.
// A NaN stays one.

#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/float16.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/binary_map.h"
#include "backends/cpu/kernels/instantiate.h"
#include "backends/cpu/kernels/wrapping.h"

namespace tensord {

template <typename T>
absl::Status RunPRelu(const KernelCall& call) {
  using C = ComputeType<T>;
  using U = Wrapping<C>;
  MapPairs<T, T, T>(call, [](C x, C slope) {
    return x < 0 ? static_cast<C>(static_cast<U>(slope) * static_cast<U>(x))
                 : x;
  });
  return absl::OkStatus();
}

TENSORD_INSTANTIATE_FLOATS(RunPRelu);
TENSORD_INSTANTIATE(RunPRelu, int32_t);
TENSORD_INSTANTIATE(RunPRelu, int64_t);
TENSORD_INSTANTIATE(RunPRelu, uint32_t);
TENSORD_INSTANTIATE(RunPRelu, uint64_t);

}  // namespace tensord
