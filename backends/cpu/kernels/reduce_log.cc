// ReduceLogSum and ReduceLogSumExp.
//
//   LogSum: log(sum of x)      LogSumExp: log(sum of exp(x))
//
// Layouts and axes: reduce.h. Computes in float64; of integers the result is
// truncated, at most to the type's limits. LogSumExp keeps its exponents at
// most 0, so that it is finite for every finite input. Over no element at all
// both are the logarithm of 0.

#include <cmath>
#include <cstdint>
#include <limits>

#include "backends/api/float16.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/reduce.h"
#include "backends/cpu/kernels/saturate.h"

namespace tensord {
namespace {

template <typename T>
struct LogSum {
  using Accumulator = double;
  static double First() { return 0; }
  static void Add(double& sum, T x) { sum += static_cast<double>(x); }
  static void Merge(double& sum, double other) { sum += other; }
  static T Result(double sum, int64_t) { return Saturate<T>(std::log(sum)); }
};

// The sum of exp(x) as sum * exp(maximum), with the maximum so far.
struct ScaledSum {
  double maximum = -std::numeric_limits<double>::infinity();
  double sum = 0;
};

template <typename T>
struct LogSumExp {
  using Accumulator = ScaledSum;
  static ScaledSum First() { return {}; }
  static void Add(ScaledSum& total, T x) {
    Merge(total, {static_cast<double>(x), 1});
  }
  static void Merge(ScaledSum& total, const ScaledSum& other) {
    if (other.sum == 0) return;
    // Apart, since the difference of two infinities is NaN.
    if (other.maximum == total.maximum) {
      total.sum += other.sum;
    } else if (other.maximum > total.maximum) {
      total.sum =
          total.sum * std::exp(total.maximum - other.maximum) + other.sum;
      total.maximum = other.maximum;
    } else {
      total.sum += other.sum * std::exp(other.maximum - total.maximum);
    }
  }
  static T Result(const ScaledSum& total, int64_t) {
    return Saturate<T>(std::log(total.sum) + total.maximum);
  }
};

}  // namespace

#define TENSORD_REDUCE(name)                             \
  template <typename T>                                  \
  absl::Status RunReduce##name(const KernelCall& call) { \
    return reduce::Reduce<name<T>, T>(call);             \
  }

TENSORD_REDUCE(LogSum)
TENSORD_REDUCE(LogSumExp)

#define TENSORD_INSTANTIATE(T)                                 \
  template absl::Status RunReduceLogSum<T>(const KernelCall&); \
  template absl::Status RunReduceLogSumExp<T>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)
TENSORD_INSTANTIATE(int32_t)
TENSORD_INSTANTIATE(int64_t)
TENSORD_INSTANTIATE(uint32_t)
TENSORD_INSTANTIATE(uint64_t)

}  // namespace tensord
