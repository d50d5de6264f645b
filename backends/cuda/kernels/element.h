#ifndef TENSORD_BACKENDS_CUDA_KERNELS_ELEMENT_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_ELEMENT_H_

#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/cuda/kernels/device.h"

namespace tensord::cuda {

// What kernels that only move elements take them for: unsigned integers of
// their size, or of several elements together, whose copies keep every bit.
template <int kBytes>
using ElementOf = std::conditional_t<
    kBytes == 1, uint8_t,
    std::conditional_t<
        kBytes == 2, uint16_t,
        std::conditional_t<kBytes == 4, uint32_t,
                           std::conditional_t<kBytes == 8, uint2, uint4>>>>;

// Up to so many elements are counted with 32-bit indices: sums of an index and
// a grid's stride stay below 2^31.
inline constexpr int64_t kMostNarrow = int64_t{1} << 30;

inline bool IsAligned(const void* address, int bytes) {
  return reinterpret_cast<uintptr_t>(address) % bytes == 0;
}

// The most bytes, up to 16, in which runs of `run_bytes` can be moved whose
// first ones begin at these addresses; at least `element_bytes`.
inline int WidestElement(int element_bytes, int64_t run_bytes,
                         std::initializer_list<const void*> addresses) {
  int bytes = 16;
  const auto fits = [&] {
    for (const void* address : addresses) {
      if (!IsAligned(address, bytes)) return false;
    }
    return run_bytes % bytes == 0;
  };
  while (bytes > element_bytes && !fits()) bytes /= 2;
  return bytes;
}

// visit(std::integral_constant<int, bytes>()) for an element's size.
template <typename Visit>
absl::Status VisitElementBytes(int bytes, Visit visit) {
  switch (bytes) {
    case 1:
      return visit(std::integral_constant<int, 1>());
    case 2:
      return visit(std::integral_constant<int, 2>());
    case 4:
      return visit(std::integral_constant<int, 4>());
    case 8:
      return visit(std::integral_constant<int, 8>());
    case 16:
      return visit(std::integral_constant<int, 16>());
    default:
      return absl::InternalError(
          absl::StrCat("no element has ", bytes, " bytes"));
  }
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_ELEMENT_H_
