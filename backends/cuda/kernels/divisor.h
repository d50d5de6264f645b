#ifndef TENSORD_BACKENDS_CUDA_KERNELS_DIVISOR_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_DIVISOR_H_

#include <cstdint>

#include "backends/cuda/kernels/device.h"

namespace tensord::cuda {

// Division by a number that is known before the launch: of 32-bit indices by a
// multiplication, since a division takes some twenty instructions on the
// device; of 64-bit ones plainly.
//
// Threading and ownership: a plain value, made on the host.
template <typename Index>
class Divisor {
 public:
  Divisor() = default;
  explicit Divisor(int64_t divisor) : divisor_(divisor) {}

  __device__ Index Quotient(Index n) const { return n / divisor_; }
  __device__ Index value() const { return divisor_; }

 private:
  Index divisor_ = 1;
};

// The numerator is below 2^31: then the sum of it and its product's upper half
// stays within 32 bits.
template <>
class Divisor<uint32_t> {
 public:
  Divisor() = default;
  explicit Divisor(int64_t divisor) : divisor_(static_cast<uint32_t>(divisor)) {
    while (uint64_t{1} << shift_ < divisor_) ++shift_;
    const uint64_t rest = (uint64_t{1} << shift_) - divisor_;
    multiplier_ = static_cast<uint32_t>((rest << 32) / divisor_ + 1);
  }

  __device__ uint32_t Quotient(uint32_t n) const {
    const auto high = static_cast<uint32_t>(uint64_t{n} * multiplier_ >> 32);
    return (high + n) >> shift_;
  }
  __device__ uint32_t value() const { return divisor_; }

 private:
  uint32_t divisor_ = 1;
  uint32_t multiplier_ = 1;
  uint32_t shift_ = 0;
};

// n becomes what is left of it; the result is the quotient.
template <typename Index>
__device__ Index DivideBy(const Divisor<Index>& divisor, Index& n) {
  const Index quotient = divisor.Quotient(n);
  n -= quotient * divisor.value();
  return quotient;
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_DIVISOR_H_
