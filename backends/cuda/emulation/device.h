#ifndef TENSORD_BACKENDS_CUDA_EMULATION_DEVICE_H_
#define TENSORD_BACKENDS_CUDA_EMULATION_DEVICE_H_

// CUDA's device language as ordinary C++, for what the project's kernels use of
// it: the names of built-in variables, barriers, warp exchanges and atomics.
// Kernels that need tensor cores or inline assembly are not emulated.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <vector_functions.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "backends/cuda/emulation/grid.h"

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __forceinline__
#undef __noinline__
#undef __launch_bounds__
#undef __grid_constant__
#define __global__
#define __device__
#define __host__
// One block runs at a time on a thread, so its shared variables can be that
// thread's.
#define __shared__ static thread_local
#define __constant__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __grid_constant__

#define threadIdx (::tensord::cuda::emulation::Current().thread_index)
#define blockIdx (::tensord::cuda::emulation::Current().block_index)
#define blockDim (::tensord::cuda::emulation::Current().block_dim)
#define gridDim (::tensord::cuda::emulation::Current().grid_dim)
#define warpSize 32

inline void __syncthreads() { ::tensord::cuda::emulation::SyncThreads(); }
inline void __syncwarp(unsigned mask = 0xffffffffu) {
  ::tensord::cuda::emulation::SyncWarp(mask);
}
inline void __threadfence() {}
inline void __threadfence_block() {}

template <typename T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  return ::tensord::cuda::emulation::Shuffle(mask, value, [=](int lane) {
    return lane / width * width + source % width;
  });
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
  return ::tensord::cuda::emulation::Shuffle(mask, value, [=](int lane) {
    const int source = lane ^ lane_mask;
    return source / width == lane / width ? source : lane;
  });
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return ::tensord::cuda::emulation::Shuffle(mask, value, [=](int lane) {
    const int source = lane + static_cast<int>(delta);
    return source / width == lane / width ? source : lane;
  });
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return ::tensord::cuda::emulation::Shuffle(mask, value, [=](int lane) {
    const int source = lane - static_cast<int>(delta);
    return source >= lane / width * width ? source : lane;
  });
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return ::tensord::cuda::emulation::Ballot(mask, predicate != 0);
}
inline int __any_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate == 0) == 0;
}

// One thread of the host runs a whole grid, so plain read-modify-writes are
// atomic.
template <typename T, typename U>
T atomicAdd(T* address, U value) {
  const T old = *address;
  *address = old + static_cast<T>(value);
  return old;
}
template <typename T>
T atomicMax(T* address, T value) {
  const T old = *address;
  *address = std::max(old, value);
  return old;
}
template <typename T>
T atomicMin(T* address, T value) {
  const T old = *address;
  *address = std::min(old, value);
  return old;
}
template <typename T>
T atomicOr(T* address, T value) {
  const T old = *address;
  *address = old | value;
  return old;
}
template <typename T>
T atomicExch(T* address, T value) {
  const T old = *address;
  *address = value;
  return old;
}
template <typename T>
T atomicCAS(T* address, T compare, T value) {
  const T old = *address;
  if (old == compare) *address = value;
  return old;
}

template <typename T>
T __ldg(const T* address) {
  return *address;
}
template <typename T>
T __ldcs(const T* address) {
  return *address;
}
template <typename T>
void __stcs(T* address, T value) {
  *address = value;
}
inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline float __uint_as_float(unsigned x) {
  float y;
  std::memcpy(&y, &x, sizeof(y));
  return y;
}
inline unsigned __float_as_uint(float x) {
  unsigned y;
  std::memcpy(&y, &x, sizeof(y));
  return y;
}
inline int __float_as_int(float x) {
  return static_cast<int>(__float_as_uint(x));
}
inline float __int_as_float(int x) {
  return __uint_as_float(static_cast<unsigned>(x));
}

#endif  // TENSORD_BACKENDS_CUDA_EMULATION_DEVICE_H_
