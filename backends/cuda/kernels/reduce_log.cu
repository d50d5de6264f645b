// ReduceLogSumExp: log(sum of exp(x)).
//
// How x is walked is in reduction.h. Computes in float32, of float64 and of
// integers in float64; of integers the result is truncated, at most to the
// type's limits. Exponents are at most 0, so that the result is finite for
// every finite input. Over no element at all it is the logarithm of 0.

#include <math.h>

#include <cstdint>

#include "backends/cuda/kernels/reduce.h"
#include "backends/cuda/kernels/reduction.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

// The sum of exp(x) as sum * exp(maximum), with the maximum so far.
template <typename Number>
struct ScaledSum {
  Number maximum;
  Number sum;
};

template <typename T, typename Number>
struct LogSumExpReduction {
  using Element = T;
  using Accumulator = ScaledSum<Number>;
  using Output = T;

  __device__ Accumulator First() const {
    return {-static_cast<Number>(kInfinity), 0};
  }
  __device__ void Add(Accumulator& total, T element, int64_t) const {
    Merge(total, {static_cast<Number>(ToCompute(element)), 1});
  }
  __device__ void Merge(Accumulator& total, const Accumulator& other) const {
    if (other.sum == 0) return;
    // Apart, since the difference of two infinities is NaN.
    if (other.maximum == total.maximum) {
      total.sum += other.sum;
    } else if (other.maximum > total.maximum) {
      total.sum = total.sum * exp(total.maximum - other.maximum) + other.sum;
      total.maximum = other.maximum;
    } else {
      total.sum += other.sum * exp(other.maximum - total.maximum);
    }
  }
  __device__ T Result(const Accumulator& total, int64_t) const {
    return Convert<T>(log(total.sum) + total.maximum);
  }
};

}  // namespace

absl::Status RunReduceLogSumExp(const KernelCall& call, OpKind, DType dtype) {
  const absl::StatusOr<DimensionMask> is_reduced = ReducedBy(call);
  if (!is_reduced.ok()) return is_reduced.status();
  const auto launch = [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Number =
        std::conditional_t<kIsFloat<T> && sizeof(T) < 8, float, double>;
    return LaunchReduction<1>(call, *is_reduced,
                              LogSumExpReduction<T, Number>{});
  };
  switch (dtype) {
    case DType::kInt32:
      return launch(TypeTag<int32_t>());
    case DType::kInt64:
      return launch(TypeTag<int64_t>());
    case DType::kUInt32:
      return launch(TypeTag<uint32_t>());
    case DType::kUInt64:
      return launch(TypeTag<uint64_t>());
    default:
      return VisitFloat(dtype, launch);
  }
}

}  // namespace tensord::cuda
