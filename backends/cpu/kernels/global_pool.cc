// GlobalMaxPool, GlobalAveragePool, GlobalLpPool: each plane becomes one
// element, its maximum, mean or p-norm.
//
// x is contiguous [N, C, spatial...], y [N, C, 1...] another buffer; no spatial
// extent is 0. Sums in the elements' own type, 16-bit ones in float32. The
// maximum of a plane with a NaN is a NaN or not, by the order of its elements.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/p_norm.h"

namespace tensord {
namespace {

template <typename T, typename Reduce>
absl::Status ReducePlanes(const KernelCall& call, Reduce reduce) {
  constexpr int64_t kGrainElements = 8 * 1024;
  const Shape& shape = call.input_layout(0).shape;
  const int64_t inner = shape.ElementCount(2, shape.rank());
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  call.context.workers->ParallelFor(
      shape[0] * shape[1], kGrainElements / std::max<int64_t>(inner, 1) + 1,
      [=](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) {
          y[plane] = static_cast<T>(reduce(x + plane * inner, inner));
        }
      });
  return absl::OkStatus();
}

// The sum of term(x) in eight sums side by side: one chain of additions would
// run at the latency of an addition, and lose more bits.
template <typename T, typename Term>
ComputeType<T> Sum(const T* x, int64_t count, Term term) {
  using C = ComputeType<T>;
  C sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int lane = 0; lane < 8; ++lane) {
      sums[lane] += term(static_cast<C>(x[i + lane]));
    }
  }
  for (; i < count; ++i) sums[0] += term(static_cast<C>(x[i]));
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
         ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace

template <typename T>
absl::Status RunGlobalMaxPool(const KernelCall& call) {
  return ReducePlanes<T>(call, [](const T* x, int64_t count) {
    return *std::max_element(x, x + count);
  });
}

template <typename T>
absl::Status RunGlobalAveragePool(const KernelCall& call) {
  using C = ComputeType<T>;
  return ReducePlanes<T>(call, [](const T* x, int64_t count) {
    return Sum(x, count, [](C element) { return element; }) /
           static_cast<C>(count);
  });
}

template <typename T>
absl::Status RunGlobalLpPool(const KernelCall& call) {
  using C = ComputeType<T>;
  const int64_t p = std::get<PoolParams>(call.params).p;
  return ReducePlanes<T>(call, [p](const T* x, int64_t count) {
    return RootOf(
        Sum(x, count, [p](C element) { return PowerOf(std::abs(element), p); }),
        p);
  });
}

#define TENSORD_INSTANTIATE(T)                                      \
  template absl::Status RunGlobalMaxPool<T>(const KernelCall&);     \
  template absl::Status RunGlobalAveragePool<T>(const KernelCall&); \
  template absl::Status RunGlobalLpPool<T>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)

}  // namespace tensord
