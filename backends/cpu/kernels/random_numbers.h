#ifndef TENSORD_BACKENDS_CPU_KERNELS_RANDOM_NUMBERS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_RANDOM_NUMBERS_H_

#include <sys/random.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>

#include "absl/time/clock.h"

namespace tensord {

// Random numbers by their place in a sequence, so that threads need not share a
// generator and the numbers do not depend on how many threads there are.
//
// SplitMix64 (Steele, Lea and Flood, 2014): a counter times the golden ratio,
// then shifts and products until every bit depends on every other.
//
// Threading and ownership: a plain value.
class RandomSequence {
 public:
  // The sequence of a seed; without one, a sequence that no other launch has.
  // Mix(0) is 0: without the golden ratio, seed 0 would begin with a 0.
  explicit RandomSequence(std::optional<float> seed)
      : key_(Mix(kGolden + (seed.has_value() ? std::bit_cast<uint32_t>(*seed)
                                             : KeyOfThisLaunch()))) {}

  uint64_t Bits(int64_t i) const {
    return Mix(key_ + static_cast<uint64_t>(i) * kGolden);
  }

  // In [0, 1), with all the bits of a double.
  double Uniform(int64_t i) const {
    return static_cast<double>(Bits(i) >> 11) * 0x1p-53;
  }

  // Of mean 0 and deviation 1, from two uniform numbers (Box and Muller, 1958).
  double Normal(int64_t i) const {
    const double radius = std::sqrt(-2 * std::log(1 - Uniform(2 * i)));
    return radius * std::cos(2 * std::numbers::pi * Uniform(2 * i + 1));
  }

 private:
  static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

  static uint64_t Mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  // Drawn once for the process, so that two daemons differ.
  static uint64_t ProcessKey() {
    uint64_t key;
    if (getrandom(&key, sizeof(key), GRND_NONBLOCK) != sizeof(key)) {
      key = static_cast<uint64_t>(absl::GetCurrentTimeNanos());
    }
    return key;
  }
  static uint64_t KeyOfThisLaunch() {
    static std::atomic<uint64_t> next{ProcessKey()};
    return next.fetch_add(kGolden, std::memory_order_relaxed);
  }

  uint64_t key_;
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_RANDOM_NUMBERS_H_
