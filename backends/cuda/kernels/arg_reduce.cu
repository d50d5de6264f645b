// ArgMax and ArgMin.
//
//   y[o, i] = the c at which x[o, c, i] is greatest (least)
//
// x is contiguous, seen as [outer, extent of the axis, inner]; y is int64, its
// [outer, inner] contiguous. Of equal extremes the first counts, or the last
// with selects_last. A NaN is more extreme than any number.

#include <cstdint>

#include "backends/cuda/kernels/reduce.h"
#include "backends/cuda/kernels/reduction.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

template <typename T>
struct Found {
  T value;
  int64_t index;  // -1: nothing yet
};

template <typename T>
struct ArgReduction {
  using Element = T;
  using Accumulator = Found<Compute<T>>;
  using Output = int64_t;

  bool is_max;
  bool selects_last;

  __device__ Accumulator First() const { return {Compute<T>{}, -1}; }
  __device__ void Add(Accumulator& best, T element, int64_t index) const {
    Merge(best, {ToCompute(element), index});
  }
  __device__ void Merge(Accumulator& best, const Accumulator& other) const {
    if (other.index < 0) return;
    if (best.index < 0 || Beats(other, best)) best = other;
  }
  __device__ int64_t Result(const Accumulator& best, int64_t) const {
    return best.index < 0 ? 0 : best.index;
  }

 private:
  __device__ bool Beats(const Accumulator& a, const Accumulator& b) const {
    const bool a_is_nan = a.value != a.value;
    const bool b_is_nan = b.value != b.value;
    if (a_is_nan != b_is_nan) return a_is_nan;
    if (!a_is_nan && a.value != b.value) {
      return is_max ? a.value > b.value : a.value < b.value;
    }
    return selects_last ? a.index > b.index : a.index < b.index;
  }
};

DimensionMask MaskOf(const ArgReduceParams& params, int rank) {
  DimensionMask is_reduced{};
  is_reduced[params.axis < 0 ? params.axis + rank : params.axis] = true;
  return is_reduced;
}

}  // namespace

uint64_t ArgReduceWorkspaceBytes(const NodeSite& site) {
  const Shape& x = site.input(0).shape;
  return PartialBytes(
      PlanReduction(x, MaskOf(std::get<ArgReduceParams>(site.params), x.rank()),
                    1),
      kMaxAccumulatorBytes);
}

absl::Status RunArgReduce(const KernelCall& call, OpKind op, DType dtype) {
  const auto& params = std::get<ArgReduceParams>(call.params);
  const DimensionMask is_reduced =
      MaskOf(params, call.input_layout(0).shape.rank());
  const auto launch = [&](auto tag) {
    using T = typename decltype(tag)::type;
    return LaunchReduction<1>(
        call, is_reduced,
        ArgReduction<T>{op == OpKind::kArgMax, params.selects_last});
  };
  return IsFloatDType(dtype) ? VisitFloat(dtype, launch)
                             : VisitInteger(dtype, launch);
}

}  // namespace tensord::cuda
