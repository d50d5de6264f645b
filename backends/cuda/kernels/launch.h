#ifndef TENSORD_BACKENDS_CUDA_KERNELS_LAUNCH_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_LAUNCH_H_

#include <cstddef>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "backends/api/launch_context.h"
#include "backends/cuda/cuda_status.h"
#include "backends/cuda/kernels/device.h"
#include "backends/cuda/stream_of.h"

namespace tensord::cuda {

// How a kernel is spread over the device. A plain value.
struct LaunchShape {
  dim3 grid;
  dim3 block;
  size_t shared_bytes = 0;  // dynamic shared memory of each block
};

// Enough blocks of `threads` for one thread an element, up to a limit that
// fills any card: kernels walk the rest in strides of the grid.
LaunchShape ForElements(int64_t count, int threads = 256);

// Enqueues `kernel` on the stream of the context's lane. Arguments are copied,
// so they must be trivially copyable; pointers are device addresses. The kernel
// is a plain function, so that the same source runs on the host in tests
// (emulation/).
//
// Errors: kInternal with the runtime's error name when the launch itself was
//   refused; what goes wrong on the device shows at a later completion.
template <typename... Params, typename... Args>
absl::Status Launch(const LaunchContext& context, void (*kernel)(Params...),
                    const LaunchShape& shape, Args&&... args) {
  static_assert((std::is_trivially_copyable_v<Params> && ...));
  if (shape.grid.x == 0) return absl::OkStatus();  // an empty tensor
#ifdef TENSORD_CUDA_EMULATION
  return emulation::Enqueue(
      StreamOf(context), {shape.grid, shape.block, shape.shared_bytes},
      [kernel, ... values = static_cast<Params>(args)] { kernel(values...); });
#else
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = StreamOf(context);
  return CudaStatus(
      cudaLaunchKernelEx(&config, kernel, static_cast<Params>(args)...),
      "cudaLaunchKernelEx");
#endif
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_LAUNCH_H_
