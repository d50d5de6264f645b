#ifndef TENSORD_BACKENDS_CUDA_KERNELS_DEVICE_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_DEVICE_H_

// What device code is written with. Kernels include this instead of the
// toolkit's headers, so that the host can run them in tests: with
// TENSORD_CUDA_EMULATION the same names are ordinary C++ (emulation/device.h).

#ifdef TENSORD_CUDA_EMULATION
#include "backends/cuda/emulation/device.h"
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#ifndef __CUDACC__
#define __noinline__  // host code that sees a kernel's header
#endif
#endif

namespace tensord::cuda {

#ifdef TENSORD_CUDA_EMULATION
template <typename T>
T* DynamicShared() {
  return reinterpret_cast<T*>(emulation::DynamicSharedMemory());
}
#else
// The block's dynamic shared memory (LaunchShape::shared_bytes), 16-byte
// aligned.
template <typename T>
__device__ T* DynamicShared() {
  extern __shared__ __align__(16) unsigned char tensord_dynamic_shared[];
  return reinterpret_cast<T*>(tensord_dynamic_shared);
}
#endif

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_DEVICE_H_
