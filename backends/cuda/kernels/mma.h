#ifndef TENSORD_BACKENDS_CUDA_KERNELS_MMA_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_MMA_H_

#include <cstdint>
#include <type_traits>

#include "backends/cuda/kernels/device.h"
#include "backends/cuda/kernels/number.h"

// Products of small matrices by a warp, on tensor cores where the device has
// them for these shapes (compute capability 8.0 and above, of float16 7.5), and
// how their operands come from shared memory.
//
// c [16, 8] += a [16, 16] * b [16, 8], a and b of 16-bit floats in pairs, c of
// float. Of each matrix a lane holds a fragment. With g = lane / 4 and
// t = lane % 4:
//
//   a[0]: (g, 2t), (g, 2t + 1)        a[1]: the same of row g + 8
//   a[2], a[3]: those of columns + 8
//   b[0]: (2t, g), (2t + 1, g)        b[1]: those of rows + 8
//   c[0], c[1]: (g, 2t), (g, 2t + 1)  c[2], c[3]: those of row g + 8
namespace tensord::cuda {

__device__ inline uint16_t BitsOf(Half x) { return __half_as_ushort(x); }
__device__ inline uint16_t BitsOf(BHalf x) { return __bfloat16_as_ushort(x); }
template <typename T>
__device__ inline T FromBits(uint16_t bits) {
  if constexpr (std::is_same_v<T, Half>) {
    return __ushort_as_half(bits);
  } else {
    return __ushort_as_bfloat16(bits);
  }
}

// Two halves, the lower bits first.
template <typename T>
__device__ inline uint32_t PairOf(T low, T high) {
  return BitsOf(low) | uint32_t{BitsOf(high)} << 16;
}
template <typename T>
__device__ inline float HalfOfPair(uint32_t pair, int which) {
  return ToCompute(FromBits<T>(static_cast<uint16_t>(pair >> (16 * which))));
}

namespace mma_internal {

// Each lane gets what its part of c needs from the lanes that hold it. Not
// inlined: it is for devices that nobody has a kernel's speed in mind for.
template <typename T>
__device__ __noinline__ void MultiplyByShuffles(float (&c)[4],
                                                const uint32_t (&a)[4],
                                                const uint32_t (&b)[2]) {
  const unsigned kAll = 0xffffffffu;
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int s = 0; s < 4; ++s) {
    uint32_t rows[4];
    for (int i = 0; i < 4; ++i) {
      rows[i] = __shfl_sync(kAll, a[i], lane / 4 * 4 + s);
    }
    for (int j = 0; j < 2; ++j) {
      const int source = (lane % 4 * 2 + j) * 4 + s;
      for (int half = 0; half < 2; ++half) {  // of the depth
        const uint32_t column = __shfl_sync(kAll, b[half], source);
        for (int which = 0; which < 2; ++which) {
          const float factor = HalfOfPair<T>(column, which);
          c[j] += HalfOfPair<T>(rows[2 * half], which) * factor;
          c[2 + j] += HalfOfPair<T>(rows[2 * half + 1], which) * factor;
        }
      }
    }
  }
}

}  // namespace mma_internal

// T is Half or BHalf. All lanes of the warp take part.
template <typename T>
__device__ inline void Multiply16x8x16(float (&c)[4], const uint32_t (&a)[4],
                                       const uint32_t (&b)[2]) {
#if !defined(TENSORD_CUDA_EMULATION) && \
    (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
  if constexpr (std::is_same_v<T, Half>) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
#elif defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, Half>) {
    // Two halves of the depth, which 7.5 has.
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[2]), "r"(a[3]), "r"(b[1]));
  } else {
    mma_internal::MultiplyByShuffles<T>(c, a, b);
  }
#else
  mma_internal::MultiplyByShuffles<T>(c, a, b);
#endif
}

// Four matrices of 8 x 8 halves from shared memory, as fragments: r[i] is what
// the lane has of matrix i, elements (g, 2t) and (g, 2t + 1), or of its
// transpose, (2t, g) and (2t + 1, g). Lane 8 * i + j gives the address of row j
// of matrix i, 16 bytes that are aligned.
template <typename T>
__device__ inline void LoadMatrices(uint32_t (&r)[4], const T* row) {
#ifndef TENSORD_CUDA_EMULATION
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(address)
      : "memory");
#else
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int i = 0; i < 4; ++i) {
    const T* own = __shfl_sync(0xffffffffu, row, 8 * i + lane / 4);
    r[i] = PairOf(own[lane % 4 * 2], own[lane % 4 * 2 + 1]);
  }
#endif
}
template <typename T>
__device__ inline void LoadMatricesTransposed(uint32_t (&r)[4], const T* row) {
#ifndef TENSORD_CUDA_EMULATION
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(address)
      : "memory");
#else
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int i = 0; i < 4; ++i) {
    const int first = 8 * i + lane % 4 * 2;
    const T* low = __shfl_sync(0xffffffffu, row, first);
    const T* high = __shfl_sync(0xffffffffu, row, first + 1);
    r[i] = PairOf(low[lane / 4], high[lane / 4]);
  }
#endif
}

// Copies of 16 bytes to shared memory that go on beside the thread's own work:
// all that were started before CommitCopies() are there for the thread after
// AwaitCopies(), for others after a barrier behind that. Devices below compute
// capability 8.0 copy at once.
template <typename T>
__device__ inline void CopyPackAsync(T* shared, const T* source) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address),
               "l"(source)
               : "memory");
#else
  *reinterpret_cast<uint4*>(shared) = *reinterpret_cast<const uint4*>(source);
#endif
}
__device__ inline void CommitCopies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
__device__ inline void AwaitCopies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_MMA_H_
