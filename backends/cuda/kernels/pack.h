#ifndef TENSORD_BACKENDS_CUDA_KERNELS_PACK_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_PACK_H_

#include <cstdint>

#include "backends/cuda/kernels/device.h"

namespace tensord::cuda {

// kCount neighbours that are loaded and stored as one, from an address that is
// a multiple of their size: 16 bytes are the most that one instruction moves.
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount) Pack {
  T at[kCount];
};

template <int kCount, typename T>
__device__ __host__ inline bool IsPackAligned(const T* address) {
  return reinterpret_cast<uintptr_t>(address) % (sizeof(T) * kCount) == 0;
}

template <int kCount, typename T>
__device__ inline Pack<T, kCount> LoadPack(const T* address) {
  return *reinterpret_cast<const Pack<T, kCount>*>(address);
}

template <int kCount, typename T>
__device__ inline void StorePack(T* address, const Pack<T, kCount>& pack) {
  *reinterpret_cast<Pack<T, kCount>*>(address) = pack;
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_PACK_H_
