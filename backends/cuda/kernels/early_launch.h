#ifndef TENSORD_BACKENDS_CUDA_KERNELS_EARLY_LAUNCH_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_EARLY_LAUNCH_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cuda/kernels/launch.h"

// Kernels that begin before the one ahead of them on the stream is done, where
// the device can (compute capability 9.0 and above), and wait for that
// themselves: what they read of constants until then costs no time.
//
// Such a kernel calls WaitForKernelAhead() in every thread before it reads or
// writes anything that another kernel has to do with. LetKernelBehindBegin() is
// free to come before that: the one behind waits for the end of this one, which
// is behind the end of those ahead.
namespace tensord::cuda {

__device__ inline void WaitForKernelAhead() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ inline void LetKernelBehindBegin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

#ifndef TENSORD_CUDA_EMULATION
// Whether the current device can, and the stream: where it is recorded what is
// ahead must be a kernel, since a graph has no such edge from anything else.
inline absl::StatusOr<bool> CanLaunchEarly(cudaStream_t stream) {
  int gpu = 0;
  int capability = 0;
  cudaError_t error = cudaGetDevice(&gpu);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&capability,
                                   cudaDevAttrComputeCapabilityMajor, gpu);
  }
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  const cudaGraphNode_t* ahead = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  size_t count = 0;
  if (error == cudaSuccess) {
    error = cudaStreamGetCaptureInfo(stream, &capture, nullptr, nullptr, &ahead,
                                     &edges, &count);
  }
  bool can = capability >= 9;
  if (error == cudaSuccess && capture != cudaStreamCaptureStatusNone) {
    can = can && count == 1;
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    if (can) error = cudaGraphNodeGetType(ahead[0], &type);
    can = can && type == cudaGraphNodeTypeKernel;
  }
  if (error != cudaSuccess) {
    return CudaStatus(error, "cudaStreamGetCaptureInfo");
  }
  return can;
}
#endif

// As Launch(), of a kernel that waits itself.
template <typename... Params, typename... Args>
absl::Status LaunchEarly(const LaunchContext& context,
                         void (*kernel)(Params...), const LaunchShape& shape,
                         Args&&... args) {
#ifdef TENSORD_CUDA_EMULATION
  return Launch(context, kernel, shape, args...);
#else
  const cudaStream_t stream = StreamOf(context);
  const absl::StatusOr<bool> can = CanLaunchEarly(stream);
  if (!can.ok()) return can.status();
  if (!*can || shape.grid.x == 0) {
    return Launch(context, kernel, shape, args...);
  }
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  return CudaStatus(
      cudaLaunchKernelEx(&config, kernel, static_cast<Params>(args)...),
      "cudaLaunchKernelEx");
#endif
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_EARLY_LAUNCH_H_
