// CumSum and CumProd along the axis that input 1 says.
//
//   y[o, c, i] = sum or product over b <= c of x[o, b, i]
//
// with b < c if exclusive, and from the other end if reverse. x and y are
// contiguous, seen as [outer, extent of the axis, inner], and may be the same
// buffer. Accumulates in the elements' own type, 16-bit floats in float32;
// integers wrap, as in numpy.

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/api/axis_view.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/wrapping.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 16 * 1024;

template <typename T, typename Index, bool kMultiplies>
absl::Status Run(const KernelCall& call) {
  using U = Wrapping<T>;
  const auto& params = std::get<CumSumParams>(call.params);
  const Shape& shape = call.input_layout(0).shape;
  const int64_t axis = *call.input<Index>(1);
  if (axis < -shape.rank() || axis >= shape.rank()) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", axis, " is outside [", -shape.rank(), ", ",
                     shape.rank(), ")"));
  }
  const AxisView view(shape, axis);
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  const int64_t step = params.is_reverse ? -view.inner : view.inner;
  // One task is a line along the axis.
  call.context.workers->ParallelFor(
      view.outer * view.inner,
      std::max<int64_t>(1, kGrainElements / std::max<int64_t>(1, view.extent)),
      [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line) {
          int64_t at =
              line / view.inner * view.extent * view.inner + line % view.inner;
          if (params.is_reverse) at += (view.extent - 1) * view.inner;
          U total = kMultiplies ? 1 : 0;
          for (int64_t c = 0; c < view.extent; ++c, at += step) {
            const U element = static_cast<U>(x[at]);
            if (params.is_exclusive) y[at] = static_cast<T>(total);
            total = kMultiplies ? total * element : total + element;
            if (!params.is_exclusive) y[at] = static_cast<T>(total);
          }
        }
      });
  return absl::OkStatus();
}

}  // namespace

template <typename T, typename Index>
absl::Status RunCumProd(const KernelCall& call) {
  return Run<T, Index, true>(call);
}

template <typename T, typename Index>
absl::Status RunCumSum(const KernelCall& call) {
  return Run<T, Index, false>(call);
}

#define TENSORD_INSTANTIATE(T)                                     \
  template absl::Status RunCumProd<T, int32_t>(const KernelCall&); \
  template absl::Status RunCumProd<T, int64_t>(const KernelCall&); \
  template absl::Status RunCumSum<T, int32_t>(const KernelCall&);  \
  template absl::Status RunCumSum<T, int64_t>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)
TENSORD_INSTANTIATE(int32_t)
TENSORD_INSTANTIATE(int64_t)
TENSORD_INSTANTIATE(uint32_t)
TENSORD_INSTANTIATE(uint64_t)

}  // namespace tensord
