// ReduceSum, ReduceMean, ReduceL1, ReduceL2, ReduceSumSquare, ReduceProd,
// ReduceLogSum.
//
//   Sum: sum of x      Mean: sum / count     L1: sum of |x|
//   L2: sqrt(sum x^2)  SumSquare: sum x^2    Prod: product of x
//   LogSum: log(sum of x)
//
// How x is walked, and the order of sums, is in reduction.h. Sums of floats of
// up to 32 bits accumulate in float32, of which each thread makes a short one;
// squares, products and what goes through a logarithm in float64, as they leave
// float32's range or lose its digits. Integers wrap, L2 and LogSum of them are
// computed in float64 and truncated, at most to the type's limits. Over no
// element at all a sum is 0, a product 1, and Mean NaN (of integers 0).

#include <math.h>

#include <cstdint>

#include "backends/cuda/kernels/reduce.h"
#include "backends/cuda/kernels/reduction.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

// A is what is accumulated in: float, double, or uint64_t for integers modulo
// 2^64, which is right modulo every narrower power.
template <typename T, typename A>
struct SumReduction {
  using Element = T;
  using Accumulator = A;
  using Output = T;

  OpKind op;

  __device__ A First() const { return op == OpKind::kReduceProd ? A{1} : A{0}; }

  __device__ void Add(A& total, T element, int64_t) const {
    const A x = static_cast<A>(ToCompute(element));
    switch (op) {
      case OpKind::kReduceL1:
        if constexpr (std::is_integral_v<A>) {
          total += IsNegative(element) ? A{0} - x : x;
        } else {
          total += fabs(x);
        }
        return;
      case OpKind::kReduceL2:
      case OpKind::kReduceSumSquare:
        total += x * x;
        return;
      case OpKind::kReduceProd:
        total *= x;
        return;
      default:
        total += x;
    }
  }

  __device__ void Merge(A& total, const A& other) const {
    total = op == OpKind::kReduceProd ? total * other : total + other;
  }

  __device__ T Result(const A& total, int64_t count) const {
    if (op == OpKind::kReduceMean) return MeanOf(total, count);
    if constexpr (std::is_floating_point_v<A>) {
      if (op == OpKind::kReduceL2) return Convert<T>(sqrt(total));
      if (op == OpKind::kReduceLogSum) return Convert<T>(log(total));
    }
    return Convert<T>(total);
  }

 private:
  __device__ static T MeanOf(A total, int64_t count) {
    if constexpr (kIsFloat<T>) {
      return Convert<T>(total / static_cast<A>(count));
    } else if constexpr (std::is_signed_v<T>) {
      return count == 0 ? 0
                        : static_cast<T>(static_cast<int64_t>(total) / count);
    } else {
      return count == 0 ? 0
                        : static_cast<T>(static_cast<uint64_t>(total) /
                                         static_cast<uint64_t>(count));
    }
  }
};

bool NeedsDouble(OpKind op, DType dtype) {
  switch (op) {
    case OpKind::kReduceL2:
    case OpKind::kReduceLogSum:
      return true;
    case OpKind::kReduceProd:
    case OpKind::kReduceSumSquare:
      return IsFloatDType(dtype);
    default:
      return false;
  }
}

}  // namespace

absl::Status RunReduceSum(const KernelCall& call, OpKind op, DType dtype) {
  const absl::StatusOr<DimensionMask> is_reduced = ReducedBy(call);
  if (!is_reduced.ok()) return is_reduced.status();
  const auto launch = [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (NeedsDouble(op, dtype)) {
      return LaunchReduction<1>(call, *is_reduced, SumReduction<T, double>{op});
    }
    constexpr int kWidth = kIsFloat<T> && sizeof(T) < 8 ? kRunWidth<T> : 1;
    using Sum = std::conditional_t<kIsFloat<T>, Compute<T>, uint64_t>;
    return LaunchReduction<kWidth>(call, *is_reduced, SumReduction<T, Sum>{op});
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
