// ReduceSum and its siblings over the dimensions that input 1 lists; without
// input 1, or with an empty one, over all (or over none: noop_with_empty_axes).
//
//   Sum: sum of x      Mean: sum / count    L1: sum of |x|   L2: sqrt(sum x^2)
//   SumSquare: sum x^2     LogSum: log(sum)     LogSumExp: log(sum of exp(x))
//   Prod, Max, Min
//
// x and y are contiguous and apart. Sums and products of floating-point
// elements accumulate in float64, so that the order does not matter at the
// elements' precision; those of integers wrap, as in numpy, and where a formula
// leaves the integers it is computed in float64 and truncated, at most to the
// type's limits. LogSumExp keeps its exponents at most 0, so that it is finite
// for every finite input. A NaN among the elements is the Max and the Min. Over
// no element at all a sum is 0, a product 1, Max the least value of the type,
// Min the greatest, and Mean NaN (of integers 0).
//
// Where the axes are computed, the extents of y go to the extent cells.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/extent_cells.h"
#include "backends/cpu/kernels/reduce_walk.h"
#include "backends/cpu/kernels/saturate.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 16 * 1024;

// A reduction of elements T has an accumulator, its first value, how an element
// and another accumulator come in, and what comes out.
//
// Integers are summed modulo 2^64, which is right modulo every narrower power.
template <typename T>
using SumType =
    std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

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
    if constexpr (std::is_floating_point_v<T>) {
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
    if constexpr (std::is_floating_point_v<T>) {
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

template <typename T>
bool IsNan(T x) {
  if constexpr (std::is_floating_point_v<T>) return x != x;
  return false;
}

template <typename T>
struct Max {
  using Accumulator = T;
  static T First() {
    return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                       : std::numeric_limits<T>::lowest();
  }
  static void Add(T& best, T x) {
    if (x > best || IsNan(x)) best = x;
  }
  static void Merge(T& best, T other) { Add(best, other); }
  static T Result(T best, int64_t) { return best; }
};

template <typename T>
struct Min {
  using Accumulator = T;
  static T First() {
    return std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                       : std::numeric_limits<T>::max();
  }
  static void Add(T& best, T x) {
    if (x < best || IsNan(x)) best = x;
  }
  static void Merge(T& best, T other) { Add(best, other); }
  static T Result(T best, int64_t) { return best; }
};

// Accumulators side by side: they vectorise, and one chain of operations would
// run at the latency of one.
constexpr int64_t kLanes = 8;

// One output whose elements come in runs of neighbours.
template <typename Reduction, typename T>
T ReduceRuns(const ReduceWalk& walk, const T* x) {
  typename Reduction::Accumulator lanes[kLanes];
  std::fill_n(lanes, kLanes, Reduction::First());
  const int64_t length = walk.reduced_run();
  walk.ForEachRun([&](int64_t offset) {
    const T* run = x + offset;
    int64_t i = 0;
    for (; i + kLanes <= length; i += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        Reduction::Add(lanes[lane], run[i + lane]);
      }
    }
    for (; i < length; ++i) Reduction::Add(lanes[i % kLanes], run[i]);
  });
  for (int64_t lane = 1; lane < kLanes; ++lane) {
    Reduction::Merge(lanes[0], lanes[lane]);
  }
  return Reduction::Result(lanes[0], walk.reduced_count());
}

// As many outputs side by side as keep the accumulators in cache.
constexpr int64_t kSideBySide = 64;

template <typename Reduction, typename T>
void ReduceStrip(const ReduceWalk& walk, const T* x, T* y, int64_t width) {
  typename Reduction::Accumulator strip[kSideBySide];
  std::fill_n(strip, width, Reduction::First());
  walk.ForEachRun([&](int64_t offset) {
    const T* row = x + offset;
    for (int64_t i = 0; i < width; ++i) Reduction::Add(strip[i], row[i]);
  });
  for (int64_t i = 0; i < width; ++i) {
    y[i] = Reduction::Result(strip[i], walk.reduced_count());
  }
}

absl::Status FindReduced(const KernelCall& call, int rank,
                         DimensionMask& is_reduced) {
  absl::Span<const int64_t> axes;
  if (call.has_input(1)) {
    axes = {call.input<int64_t>(1),
            static_cast<size_t>(call.input_layout(1).shape.element_count())};
  }
  if (axes.empty()) {
    const bool reduces_all =
        !std::get<ReduceParams>(call.params).noop_with_empty_axes;
    std::fill_n(is_reduced.begin(), rank, reduces_all);
  }
  return MarkAxes(axes, rank, is_reduced);
}

template <typename Reduction, typename T>
absl::Status Reduce(const KernelCall& call) {
  const Shape& shape = call.input_layout(0).shape;
  DimensionMask is_reduced{};
  if (absl::Status status = FindReduced(call, shape.rank(), is_reduced);
      !status.ok()) {
    return status;
  }
  Dims extents;
  for (int d = 0; d < shape.rank(); ++d) {
    if (!is_reduced[d]) {
      extents.push_back(shape[d]);
    } else if (std::get<ReduceParams>(call.params).keep_dims) {
      extents.push_back(1);
    }
  }
  ExtentCells(call.context).Write(extents);
  const ReduceWalk walk(shape, is_reduced);
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  const int64_t grain = std::max<int64_t>(
      1, kGrainElements / std::max<int64_t>(1, walk.reduced_count()));
  call.context.workers->ParallelFor(
      walk.output_count(), grain, [&](int64_t begin, int64_t end) {
        const int64_t run = walk.kept_run();
        for (int64_t at = begin; at < end;) {
          const T* first = x + walk.OffsetOf(at);
          if (run == 1) {
            y[at++] = ReduceRuns<Reduction>(walk, first);
            continue;
          }
          const int64_t width =
              std::min({kSideBySide, run - at % run, end - at});
          ReduceStrip<Reduction>(walk, first, y + at, width);
          at += width;
        }
      });
  return absl::OkStatus();
}

}  // namespace

KernelCost ReduceCost(const NodeSite& site) {
  const double elements = site.input(0).shape.element_count();
  return {.flops = elements,
          .bytes = elements * ByteSize(site.input_dtype(0), 1)};
}

#define TENSORD_REDUCE(name)                             \
  template <typename T>                                  \
  absl::Status RunReduce##name(const KernelCall& call) { \
    return Reduce<name<T>, T>(call);                     \
  }

TENSORD_REDUCE(L1)
TENSORD_REDUCE(L2)
TENSORD_REDUCE(LogSum)
TENSORD_REDUCE(LogSumExp)
TENSORD_REDUCE(Max)
TENSORD_REDUCE(Mean)
TENSORD_REDUCE(Min)
TENSORD_REDUCE(Prod)
TENSORD_REDUCE(Sum)
TENSORD_REDUCE(SumSquare)

#define TENSORD_INSTANTIATE_ORDERED(T)                      \
  template absl::Status RunReduceMax<T>(const KernelCall&); \
  template absl::Status RunReduceMin<T>(const KernelCall&);
#define TENSORD_INSTANTIATE(T)                                    \
  TENSORD_INSTANTIATE_ORDERED(T)                                  \
  template absl::Status RunReduceL1<T>(const KernelCall&);        \
  template absl::Status RunReduceL2<T>(const KernelCall&);        \
  template absl::Status RunReduceLogSum<T>(const KernelCall&);    \
  template absl::Status RunReduceLogSumExp<T>(const KernelCall&); \
  template absl::Status RunReduceMean<T>(const KernelCall&);      \
  template absl::Status RunReduceProd<T>(const KernelCall&);      \
  template absl::Status RunReduceSum<T>(const KernelCall&);       \
  template absl::Status RunReduceSumSquare<T>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(int32_t)
TENSORD_INSTANTIATE(int64_t)
TENSORD_INSTANTIATE(uint32_t)
TENSORD_INSTANTIATE(uint64_t)
TENSORD_INSTANTIATE_ORDERED(int8_t)
TENSORD_INSTANTIATE_ORDERED(uint8_t)
TENSORD_INSTANTIATE_ORDERED(bool)

}  // namespace tensord
