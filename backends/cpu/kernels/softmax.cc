// Softmax and LogSoftmax along one dimension.
//
//   y[o, c, i] = exp(x[o, c, i] - m) / sum over c of exp(x[o, c, i] - m),
//   m = max over c of x[o, c, i]; LogSoftmax is its logarithm.
//
// x and y are contiguous, seen as [outer, columns, inner], and may be the same
// buffer. Accumulates in the elements' own type, or float32 for 16-bit floats,
// which are rounded once: their exponentials are computed again for the result
// rather than kept. Taking off the maximum first keeps exp() finite for every
// finite input. Rows of float32 are done in vectors (vector_softmax.h).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/vector_softmax.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 4 * 1024;

struct Extents {
  int64_t outer;
  int64_t columns;
  int64_t inner;
};

Extents Resolve(const OpParams& op_params, const Shape& shape) {
  const auto& params = std::get<SoftmaxParams>(op_params);
  const int rank = shape.rank();
  const int axis =
      static_cast<int>(params.axis < 0 ? params.axis + rank : params.axis);
  const int64_t outer = shape.ElementCount(0, axis);
  if (params.flattens_at_axis) {
    return {outer, shape.ElementCount(axis, rank), 1};
  }
  return {outer, shape[axis], shape.ElementCount(axis + 1, rank)};
}

// From the shifted element and what the sum of exponentials became: its
// logarithm with kLog, else its inverse.
template <bool kLog, typename C>
C ResultOf(C shifted, C sum) {
  return kLog ? shifted - sum : std::exp(shifted) * sum;
}

template <bool kLog, typename T>
void SoftmaxRow(const T* x, T* y, int64_t columns) {
  if constexpr (std::is_same_v<T, float>) {
    return kLog ? VectorLogSoftmax(x, y, columns)
                : VectorSoftmax(x, y, columns);
  }
  using C = ComputeType<T>;
  C maximum = x[0];
  for (int64_t c = 1; c < columns; ++c) maximum = std::max<C>(maximum, x[c]);
  C sum = 0;
  for (int64_t c = 0; c < columns; ++c) {
    const C shifted = x[c] - maximum;
    const C e = std::exp(shifted);
    sum += e;
    // Only the sum of exp() is wanted with kLog, and x may be y.
    if constexpr (!kIsFloat16<T>) y[c] = kLog ? shifted : e;
  }
  const C last = kLog ? std::log(sum) : 1 / sum;
  for (int64_t c = 0; c < columns; ++c) {
    if constexpr (kIsFloat16<T>) {
      y[c] = ResultOf<kLog, C>(x[c] - maximum, last);
    } else {
      y[c] = kLog ? y[c] - last : y[c] * last;
    }
  }
}

// Neighbouring columns side by side, since their elements are neighbours in
// memory; as many as keep the accumulators in cache.
constexpr int64_t kSideBySide = 64;

template <bool kLog, typename T>
void SoftmaxStrip(const T* x, T* y, int64_t columns, int64_t inner,
                  int64_t width) {
  using C = ComputeType<T>;
  C maximum[kSideBySide];
  C sum[kSideBySide] = {};
  std::copy_n(x, width, maximum);
  for (int64_t c = 1; c < columns; ++c) {
    for (int64_t i = 0; i < width; ++i) {
      maximum[i] = std::max<C>(maximum[i], x[c * inner + i]);
    }
  }
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t i = 0; i < width; ++i) {
      const C shifted = x[c * inner + i] - maximum[i];
      const C e = std::exp(shifted);
      sum[i] += e;
      if constexpr (!kIsFloat16<T>) y[c * inner + i] = kLog ? shifted : e;
    }
  }
  for (int64_t i = 0; i < width; ++i) {
    sum[i] = kLog ? std::log(sum[i]) : 1 / sum[i];
  }
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t i = 0; i < width; ++i) {
      T& element = y[c * inner + i];
      if constexpr (kIsFloat16<T>) {
        element = ResultOf<kLog, C>(x[c * inner + i] - maximum[i], sum[i]);
      } else {
        element = kLog ? element - sum[i] : element * sum[i];
      }
    }
  }
}

template <bool kLog, typename T>
absl::Status RunRows(const KernelCall& call) {
  const Extents extents = Resolve(call.params, call.input_layout(0).shape);
  if (extents.columns == 0) return absl::OkStatus();
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  call.context.workers->ParallelFor(
      extents.outer, std::max<int64_t>(1, kGrainElements / extents.columns),
      [=](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t at = row * extents.columns;
          SoftmaxRow<kLog>(x + at, y + at, extents.columns);
        }
      });
  return absl::OkStatus();
}

template <bool kLog, typename T>
absl::Status RunStrips(const KernelCall& call) {
  const Extents extents = Resolve(call.params, call.input_layout(0).shape);
  if (extents.columns == 0) return absl::OkStatus();
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  const int64_t strips = (extents.inner + kSideBySide - 1) / kSideBySide;
  call.context.workers->ParallelFor(
      extents.outer * strips, 1, [=](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t first = task % strips * kSideBySide;
          const int64_t at =
              task / strips * extents.columns * extents.inner + first;
          SoftmaxStrip<kLog>(x + at, y + at, extents.columns, extents.inner,
                             std::min(kSideBySide, extents.inner - first));
        }
      });
  return absl::OkStatus();
}

}  // namespace

// RunSoftmaxRows takes only what has the axis innermost.
absl::Status AcceptsSoftmaxRows(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  const int64_t inner = Resolve(site.params, site.input(0).shape).inner;
  if (inner == 1) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("elements of a row are ", inner, " apart, not 1"));
}

KernelCost SoftmaxCost(const NodeSite& site) {
  // exp() counts for about ten operations; a row by itself takes some 20 ns.
  constexpr double kRowFlops = 1000;
  const Extents extents = Resolve(site.params, site.input(0).shape);
  const double elements = site.input(0).shape.element_count();
  const double rows =
      extents.inner == 1 ? static_cast<double>(extents.outer) : 0;
  return {.flops = 14 * elements + kRowFlops * rows,
          .bytes = 2.0 * ByteSize(site.input_dtype(0), 1) * elements,
          .efficiency = 0.19};
}

template <typename T>
absl::Status RunSoftmaxRows(const KernelCall& call) {
  return RunRows<false, T>(call);
}
template <typename T>
absl::Status RunSoftmaxStrips(const KernelCall& call) {
  return RunStrips<false, T>(call);
}
template <typename T>
absl::Status RunLogSoftmaxRows(const KernelCall& call) {
  return RunRows<true, T>(call);
}
template <typename T>
absl::Status RunLogSoftmaxStrips(const KernelCall& call) {
  return RunStrips<true, T>(call);
}

#define TENSORD_INSTANTIATE(T)                                   \
  template absl::Status RunSoftmaxRows<T>(const KernelCall&);    \
  template absl::Status RunSoftmaxStrips<T>(const KernelCall&);  \
  template absl::Status RunLogSoftmaxRows<T>(const KernelCall&); \
  template absl::Status RunLogSoftmaxStrips<T>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)

}  // namespace tensord
