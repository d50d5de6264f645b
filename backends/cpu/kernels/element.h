#ifndef TENSORD_BACKENDS_CPU_KERNELS_ELEMENT_H_
#define TENSORD_BACKENDS_CPU_KERNELS_ELEMENT_H_

#include <cstdint>
#include <type_traits>

namespace tensord {

// What kernels that only move elements take them for: an unsigned integer of
// their size, whose copies keep every bit (a float's NaN might not).
template <int kBytes>
using ElementOf = std::conditional_t<
    kBytes == 1, uint8_t,
    std::conditional_t<kBytes == 2, uint16_t,
                       std::conditional_t<kBytes == 4, uint32_t, uint64_t>>>;

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_ELEMENT_H_
