// Softmax, LogSoftmax and Hardmax along one dimension.
//
//   Softmax  y[o, c, i] = exp(x[o, c, i] - m) / sum over c of exp(x[o, c, i] -
//   m),
//            m = max over c of x[o, c, i]; LogSoftmax is its logarithm
//   Hardmax  y[o, c, i] = 1 if c is the first at which x[o, c, i] is greatest,
//            else 0; a NaN is greater than any number
//
// x and y are contiguous, seen as [outer, columns, inner], and may be the same
// buffer but for Hardmax. Accumulates in the elements' own type, or float32 for
// 16-bit floats, which are rounded once. Taking off the maximum first keeps
// exp() finite for every finite input.

#include <math.h>

#include <cstdint>

#include "backends/api/axis_view.h"
#include "backends/api/host_arguments.h"
#include "backends/cuda/kernels/map.h"
#include "backends/cuda/kernels/normalization.h"
#include "backends/cuda/kernels/row_sums.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

// Elements of a row that a thread of its warp holds.
constexpr int kHeld = 32;

// From the shifted element and what became of the sum of exponentials: its
// logarithm, or its inverse.
template <typename C>
__device__ C ResultOf(bool is_log, C shifted, C last) {
  return is_log ? shifted - last : exp(shifted) * last;
}
template <typename C>
__device__ C LastOf(bool is_log, C sum) {
  return is_log ? log(sum) : 1 / sum;
}

// A warp a row, which stays in its registers.
template <typename T>
__global__ void ShortRowsKernel(RowPlan plan, bool is_log, const T* x, T* y) {
  using C = Compute<T>;
  const RowThread thread = ThisRowThread(plan);
  const int columns = static_cast<int>(plan.columns);
  for (int64_t row = thread.first; row < plan.rows; row += thread.step) {
    const T* from = x + row * columns;
    T* to = y + row * columns;
    C held[kHeld];
    C maximum = -kInfinity;
    for (int k = 0; k < kHeld; ++k) {
      const int c = thread.index + k * kWarpThreads;
      if (c >= columns) break;
      held[k] = ToCompute(from[c]);
      maximum = maximum < held[k] ? held[k] : maximum;
    }
    maximum = CombineRow(plan, maximum, [](C a, C b) { return a < b ? b : a; });
    C sum = 0;
    for (int k = 0; k < kHeld; ++k) {
      if (thread.index + k * kWarpThreads >= columns) break;
      held[k] -= maximum;
      const C power = exp(held[k]);
      sum += power;
      if (!is_log) held[k] = power;
    }
    const C last = LastOf(is_log, SumRow(plan, sum));
    for (int k = 0; k < kHeld; ++k) {
      const int c = thread.index + k * kWarpThreads;
      if (c >= columns) break;
      to[c] = Convert<T>(is_log ? held[k] - last : held[k] * last);
    }
  }
}

// A block a row, which is read three times, mostly from the cache.
template <typename T>
__global__ void LongRowsKernel(RowPlan plan, bool is_log, const T* x, T* y) {
  using C = Compute<T>;
  const RowThread thread = ThisRowThread(plan);
  for (int64_t row = thread.first; row < plan.rows; row += thread.step) {
    const T* from = x + row * plan.columns;
    T* to = y + row * plan.columns;
    C maximum = -kInfinity;
    for (int64_t c = thread.index; c < plan.columns; c += plan.threads) {
      const C element = ToCompute(from[c]);
      maximum = maximum < element ? element : maximum;
    }
    maximum = CombineRow(plan, maximum, [](C a, C b) { return a < b ? b : a; });
    C sum = 0;
    for (int64_t c = thread.index; c < plan.columns; c += plan.threads) {
      sum += exp(ToCompute(from[c]) - maximum);
    }
    const C last = LastOf(is_log, SumRow(plan, sum));
    for (int64_t c = thread.index; c < plan.columns; c += plan.threads) {
      to[c] = Convert<T>(ResultOf(is_log, ToCompute(from[c]) - maximum, last));
    }
  }
}

// A thread a line, whose neighbours have neighbouring elements.
template <typename T>
__global__ void StripsKernel(int64_t lines, int64_t columns, int64_t inner,
                             bool is_log, const T* x, T* y) {
  using C = Compute<T>;
  for (int64_t line = GridThread(); line < lines; line += GridThreads()) {
    const int64_t at = line / inner * columns * inner + line % inner;
    const T* from = x + at;
    T* to = y + at;
    C maximum = -kInfinity;
    for (int64_t c = 0; c < columns; ++c) {
      const C element = ToCompute(from[c * inner]);
      maximum = maximum < element ? element : maximum;
    }
    C sum = 0;
    for (int64_t c = 0; c < columns; ++c) {
      sum += exp(ToCompute(from[c * inner]) - maximum);
    }
    const C last = LastOf(is_log, sum);
    for (int64_t c = 0; c < columns; ++c) {
      const C shifted = ToCompute(from[c * inner]) - maximum;
      to[c * inner] = Convert<T>(ResultOf(is_log, shifted, last));
    }
  }
}

template <typename T>
__global__ void HardmaxKernel(int64_t lines, int64_t columns, int64_t inner,
                              const T* x, T* y) {
  using C = Compute<T>;
  for (int64_t line = GridThread(); line < lines; line += GridThreads()) {
    const int64_t at = line / inner * columns * inner + line % inner;
    int64_t best = 0;
    C most = ToCompute(x[at]);
    for (int64_t c = 0; c < columns; ++c) {
      const C element = ToCompute(x[at + c * inner]);
      if (element > most || (element != element && most == most)) {
        best = c;
        most = element;
      }
      y[at + c * inner] = Convert<T>(0.0f);
    }
    y[at + best * inner] = Convert<T>(1.0f);
  }
}

}  // namespace

absl::Status RunSoftmax(const KernelCall& call, OpKind op, DType dtype) {
  const auto& params = std::get<SoftmaxParams>(call.params);
  const Shape& shape = call.input_layout(0).shape;
  if (shape.element_count() == 0) return absl::OkStatus();
  int64_t columns = 1;
  int64_t inner = 1;
  if (params.flattens_at_axis) {
    const int axis = Normalised(params.axis, shape.rank());
    columns = shape.ElementCount(axis, shape.rank());
  } else {
    const AxisView view(shape, params.axis);
    columns = view.extent;
    inner = view.inner;
  }
  const int64_t lines = shape.element_count() / columns;
  const bool is_log = op == OpKind::kLogSoftmax;
  return VisitFloat(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* x = call.input<T>(0);
    T* y = call.output<T>(0);
    if (op == OpKind::kHardmax) {
      return Launch(call.context, HardmaxKernel<T>, ForElements(lines, 64),
                    lines, columns, inner, x, y);
    }
    if (inner > 1) {
      return Launch(call.context, StripsKernel<T>, ForElements(lines, 64),
                    lines, columns, inner, is_log, x, y);
    }
    RowPlan plan = PlanRows(lines, columns);
    return Launch(
        call.context,
        plan.threads == kWarpThreads ? ShortRowsKernel<T> : LongRowsKernel<T>,
        ForRows(plan), plan, is_log, x, y);
  });
}

}  // namespace tensord::cuda
