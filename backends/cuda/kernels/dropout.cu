// Dropout at inference, where somebody wants its mask; else it is a view.
//
//   y = x, mask = true everywhere
//
// All are contiguous; x and y may be the same buffer, and either output may be
// absent. Elements are copied as bits, so there is one kernel for each element
// size.

#include <cstdint>

#include "backends/cuda/kernels/cast.h"
#include "backends/cuda/kernels/map.h"

namespace tensord::cuda {
namespace {

template <typename T>
__global__ void DropoutKernel(const T* x, T* y, uint8_t* mask, int64_t count) {
  for (int64_t i = GridThread(); i < count; i += GridThreads()) {
    if (y != nullptr) y[i] = x[i];
    if (mask != nullptr) mask[i] = 1;
  }
}

template <typename T>
absl::Status RunOf(const KernelCall& call) {
  const bool has_mask = call.outputs.size() > 1 && call.outputs[1].is_present();
  const int64_t count = call.input_layout(0).shape.element_count();
  return Launch(call.context, DropoutKernel<T>, ForElements(count),
                call.input<T>(0),
                call.outputs[0].is_present() ? call.output<T>(0) : nullptr,
                has_mask ? call.output<uint8_t>(1) : nullptr, count);
}

}  // namespace

absl::Status RunDropout(const KernelCall& call, int element_bytes) {
  switch (element_bytes) {
    case 2:
      return RunOf<uint16_t>(call);
    case 4:
      return RunOf<uint32_t>(call);
    default:
      return RunOf<uint64_t>(call);
  }
}

}  // namespace tensord::cuda
