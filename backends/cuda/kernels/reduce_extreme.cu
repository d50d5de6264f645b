// ReduceMax and ReduceMin: the greatest and the least of x.
//
// How x is walked is in reduction.h. A NaN among the elements is the result.
// Over no element at all Max is the least value of the type, Min the greatest.
// A bool is a byte of 0 or 1.

#include <cstdint>

#include "backends/cuda/kernels/reduce.h"
#include "backends/cuda/kernels/reduction.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

template <typename T>
struct ExtremeReduction {
  using Element = T;
  using Accumulator = Compute<T>;
  using Output = T;

  bool is_max;
  Accumulator first;

  __device__ Accumulator First() const { return first; }
  __device__ void Add(Accumulator& best, T element, int64_t) const {
    Merge(best, ToCompute(element));
  }
  __device__ void Merge(Accumulator& best, const Accumulator& other) const {
    const bool beats = is_max ? other > best : other < best;
    if (beats || other != other) best = other;
  }
  __device__ T Result(const Accumulator& best, int64_t) const {
    return Convert<T>(best);
  }
};

}  // namespace

absl::Status RunReduceExtreme(const KernelCall& call, OpKind op, DType dtype) {
  const absl::StatusOr<DimensionMask> is_reduced = ReducedBy(call);
  if (!is_reduced.ok()) return is_reduced.status();
  const bool is_max = op == OpKind::kReduceMax;
  const auto launch = [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int kWidth = kIsFloat<T> && sizeof(T) < 8 ? kRunWidth<T> : 1;
    ExtremeReduction<T> reduction = {is_max, {}};
    if constexpr (kIsFloat<T>) {
      reduction.first = is_max ? -kInfinity : kInfinity;
    } else {
      reduction.first = is_max ? kLeast<T> : kMost<T>;
    }
    if (dtype == DType::kBool && !is_max) reduction.first = 1;
    return LaunchReduction<kWidth>(call, *is_reduced, reduction);
  };
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
      return launch(TypeTag<uint8_t>());
    case DType::kInt8:
      return launch(TypeTag<int8_t>());
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
