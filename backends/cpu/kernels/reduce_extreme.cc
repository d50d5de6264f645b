// ReduceMax and ReduceMin: the greatest and the least of x.
//
// Layouts and axes: reduce.h. A NaN among the elements is the result. Over no
// element at all Max is the least value of the type, Min the greatest.

#include <cstdint>
#include <limits>
#include <type_traits>

#include "backends/api/float16.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/reduce.h"

namespace tensord {
namespace {

template <typename T>
bool IsNan(T x) {
  if constexpr (std::is_floating_point_v<T>) return x != x;
  return false;
}

template <typename T>
struct Max {
  using Accumulator = ComputeType<T>;
  using Limits = std::numeric_limits<Accumulator>;
  static Accumulator First() {
    return kIsFloat<T> ? -Limits::infinity() : Limits::lowest();
  }
  static void Add(Accumulator& best, Accumulator x) {
    if (x > best || IsNan(x)) best = x;
  }
  static void Merge(Accumulator& best, Accumulator other) { Add(best, other); }
  static T Result(Accumulator best, int64_t) { return best; }
};

template <typename T>
struct Min {
  using Accumulator = ComputeType<T>;
  using Limits = std::numeric_limits<Accumulator>;
  static Accumulator First() {
    return kIsFloat<T> ? Limits::infinity() : Limits::max();
  }
  static void Add(Accumulator& best, Accumulator x) {
    if (x < best || IsNan(x)) best = x;
  }
  static void Merge(Accumulator& best, Accumulator other) { Add(best, other); }
  static T Result(Accumulator best, int64_t) { return best; }
};

}  // namespace

#define TENSORD_REDUCE(name)                             \
  template <typename T>                                  \
  absl::Status RunReduce##name(const KernelCall& call) { \
    return reduce::Reduce<name<T>, T>(call);             \
  }

TENSORD_REDUCE(Max)
TENSORD_REDUCE(Min)

#define TENSORD_INSTANTIATE(T)                              \
  template absl::Status RunReduceMax<T>(const KernelCall&); \
  template absl::Status RunReduceMin<T>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)
TENSORD_INSTANTIATE(int32_t)
TENSORD_INSTANTIATE(int64_t)
TENSORD_INSTANTIATE(uint32_t)
TENSORD_INSTANTIATE(uint64_t)
TENSORD_INSTANTIATE(int8_t)
TENSORD_INSTANTIATE(uint8_t)
TENSORD_INSTANTIATE(bool)

}  // namespace tensord
