// ReduceSum, ReduceMean, ReduceL1, ReduceL2, ReduceSumSquare, ReduceProd.
//
//   Sum: sum of x      Mean: sum / count     L1: sum of |x|
//   L2: sqrt(sum x^2)  SumSquare: sum x^2    Prod: product of x
//
// Layouts and axes: reduce.h. Sums and products of floating-point elements
// accumulate in float64; those of integers wrap, as in numpy, and L2 of
// integers is computed in float64 and truncated, at most to the type's limits.
// Over no element at all a sum is 0, a product 1, and Mean NaN (of integers 0).

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "backends/api/float16.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/reduce.h"
#include "backends/cpu/kernels/saturate.h"

namespace tensord {
namespace {

using reduce::SumType;

template <typename T>
struct Sum {
  using Accumulator = SumType<T>;
  static Accumulator First() { return 0; }
  static void Add(Accumulator& sum, T x) { sum += static_cast<Accumulator>(x); }
  static void Merge(Accumulator& sum, Accumulator other) { sum += other; }
  static T Result(Accumulator sum, int64_t) { return static_cast<T>(sum); }
};

template <typename T>
struct Mean : Sum<T> {
  static T Result(SumType<T> sum, int64_t count) {
    if constexpr (kIsFloat<T>) {
      return static_cast<T>(sum / static_cast<double>(count));
    } else if constexpr (std::is_signed_v<T>) {
      return count == 0 ? 0 : static_cast<T>(static_cast<int64_t>(sum) / count);
    } else {
      return count == 0 ? 0
                        : static_cast<T>(sum / static_cast<uint64_t>(count));
    }
  }
};

template <typename T>
struct L1 : Sum<T> {
  static void Add(SumType<T>& sum, T x) {
    if constexpr (kIsFloat<T>) {
      sum += std::abs(static_cast<double>(x));
    } else {
      sum += x < 0 ? -static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
    }
  }
};

template <typename T>
struct SumSquare : Sum<T> {
  static void Add(SumType<T>& sum, T x) {
    const auto wide = static_cast<SumType<T>>(x);
    sum += wide * wide;
  }
};

template <typename T>
struct L2 {
  using Accumulator = double;
  static double First() { return 0; }
  static void Add(double& sum, T x) {
    const auto wide = static_cast<double>(x);
    sum += wide * wide;
  }
  static void Merge(double& sum, double other) { sum += other; }
  static T Result(double sum, int64_t) { return Saturate<T>(std::sqrt(sum)); }
};

template <typename T>
struct Prod {
  using Accumulator = SumType<T>;
  static Accumulator First() { return 1; }
  static void Add(Accumulator& product, T x) {
    product *= static_cast<Accumulator>(x);
  }
  static void Merge(Accumulator& product, Accumulator other) {
    product *= other;
  }
  static T Result(Accumulator product, int64_t) {
    return static_cast<T>(product);
  }
};

}  // namespace

KernelCost ReduceCost(const NodeSite& site) {
  const double elements = site.input(0).shape.element_count();
  return {.flops = elements,
          .bytes = elements * ByteSize(site.input_dtype(0), 1),
          .efficiency = 0.022};
}

#define TENSORD_REDUCE(name)                             \
  template <typename T>                                  \
  absl::Status RunReduce##name(const KernelCall& call) { \
    return reduce::Reduce<name<T>, T>(call);             \
  }

TENSORD_REDUCE(L1)
TENSORD_REDUCE(L2)
TENSORD_REDUCE(Mean)
TENSORD_REDUCE(Prod)
TENSORD_REDUCE(Sum)
TENSORD_REDUCE(SumSquare)

#define TENSORD_INSTANTIATE(T)                               \
  template absl::Status RunReduceL1<T>(const KernelCall&);   \
  template absl::Status RunReduceL2<T>(const KernelCall&);   \
  template absl::Status RunReduceMean<T>(const KernelCall&); \
  template absl::Status RunReduceProd<T>(const KernelCall&); \
  template absl::Status RunReduceSum<T>(const KernelCall&);  \
  template absl::Status RunReduceSumSquare<T>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)
TENSORD_INSTANTIATE(int32_t)
TENSORD_INSTANTIATE(int64_t)
TENSORD_INSTANTIATE(uint32_t)
TENSORD_INSTANTIATE(uint64_t)

}  // namespace tensord
