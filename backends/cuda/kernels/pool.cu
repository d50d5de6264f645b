// MaxPool, AveragePool and LpPool over one to three spatial dimensions, with
// channels in the second dimension or in the last.
//
//   y[n, c, o] = the maximum, the mean or the p-norm of
//                x[n, c, o * stride - pad_begin + t * dilation]
//                over t in [0, kernel), in each spatial dimension
//
// x and y are contiguous, different buffers. Padding is no candidate for the
// maximum (a window of padding alone gives the least value) and adds nothing to
// the norm. The mean divides by the elements inside the input, or with
// count_include_pad by those inside the padded input; a window without elements
// gives 0. NaNs are left out of the maximum. Sums in the elements' own type,
// 16-bit ones in float32.
//
// MaxPool's indices, for channels in the second dimension alone: the place of
// the first maximum in x seen as one line; -1 for a window of padding. Within a
// plane the last spatial dimension is fastest, or the first.
//
// A thread makes one output, or those of neighbouring channels that are 16
// bytes together.

#include <math.h>

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/api/kernel.h"
#include "backends/api/window.h"
#include "backends/cuda/kernels/divisor.h"
#include "backends/cuda/kernels/element.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

constexpr int kSpatialRank = 3;

enum class Reduction { kMaximum, kMean, kNorm };

// One spatial dimension; those that a tensor lacks have extents of 1.
template <typename Index>
struct PoolAxis {
  Index kernel = 1;
  Index stride = 1;
  Index dilation = 1;
  Index pad_begin = 0;
  Index pad_end = 0;
  Index input = 1;
  Index output = 1;
};

template <typename Index>
struct Pool {
  using Unsigned = std::make_unsigned_t<Index>;

  PoolAxis<Index> axes[kSpatialRank];
  Divisor<Unsigned> outputs[kSpatialRank];
  Divisor<Unsigned> channels;  // in vectors, where they are last
  bool channels_last;
  bool counts_padding;
  Reduction reduction;
  Index p;
  Unsigned count;  // of outputs, in vectors
};

// The inputs of one output along a dimension that are inside [low, high).
template <typename Index>
struct Range {
  Index first;
  Index count;
};
template <typename Index>
__device__ Range<Index> Clip(const PoolAxis<Index>& axis, Index o, Index low,
                             Index high) {
  const Index start = o * axis.stride - axis.pad_begin;
  const Index step = axis.dilation;
  const Index skipped = start < low ? (low - start + step - 1) / step : 0;
  const Index reach = high > start ? (high - start + step - 1) / step : 0;
  const Index end = axis.kernel < reach ? axis.kernel : reach;
  return {start + skipped * step, end > skipped ? end - skipped : 0};
}

// What no element is below.
template <typename C>
__device__ C LeastOf() {
  if constexpr (kIsFloat<C>) {
    return -static_cast<C>(kInfinity);
  } else {
    return kLeast<C>;
  }
}

template <typename C, typename Index>
__device__ C PowerOf(C magnitude, Index p) {
  if (p == 1) return magnitude;
  if (p == 2) return magnitude * magnitude;
  return static_cast<C>(pow(magnitude, static_cast<C>(p)));
}
template <typename C, typename Index>
__device__ C RootOf(C sum, Index p) {
  if (p == 1) return sum;
  if (p == 2) return static_cast<C>(sqrt(sum));
  return static_cast<C>(pow(sum, 1 / static_cast<C>(p)));
}

template <typename C, typename Index>
__device__ C Joined(Reduction reduction, Index p, C so_far, C element) {
  if (reduction == Reduction::kMaximum) {
    return element > so_far ? element : so_far;
  }
  if constexpr (kIsFloat<C>) {
    if (reduction == Reduction::kNorm) {
      return so_far + PowerOf(static_cast<C>(fabs(element)), p);
    }
  }
  return so_far + element;
}

template <typename C, typename Index>
__device__ C Finished(const Pool<Index>& pool, C result,
                      const Range<Index>* ranges, const Index* output) {
  if constexpr (kIsFloat<C>) {
    if (pool.reduction == Reduction::kNorm) return RootOf(result, pool.p);
    if (pool.reduction == Reduction::kMean) {
      int64_t count = 1;
      for (int i = 0; i < kSpatialRank; ++i) {
        const PoolAxis<Index>& axis = pool.axes[i];
        count *= pool.counts_padding ? Clip(axis, output[i], -axis.pad_begin,
                                            axis.input + axis.pad_end)
                                           .count
                                     : ranges[i].count;
      }
      return count == 0 ? C{0} : result / static_cast<C>(count);
    }
  }
  return result;
}

template <typename T, int kVector>
struct alignas(sizeof(T) * kVector) Vector {
  T elements[kVector];
};

// Where one output's window is: in vectors of channels.
template <typename Index>
struct Place {
  Index plane;     // of x, its first element
  Index position;  // elements of x from one position to the next
  Index output[kSpatialRank];
};
template <typename Index>
__device__ Place<Index> PlaceOf(const Pool<Index>& pool,
                                std::make_unsigned_t<Index> at) {
  using Unsigned = std::make_unsigned_t<Index>;
  Place<Index> place = {0, 1, {}};
  Unsigned channel = 0;
  if (pool.channels_last) {
    channel = at;
    at = DivideBy(pool.channels, channel);
    place.position = static_cast<Index>(pool.channels.value());
  }
  for (int i = kSpatialRank - 1; i >= 0; --i) {
    Unsigned index = at;
    at = DivideBy(pool.outputs[i], index);
    place.output[i] = static_cast<Index>(index);
  }
  place.plane = static_cast<Index>(at) * pool.axes[0].input *
                    pool.axes[1].input * pool.axes[2].input * place.position +
                static_cast<Index>(channel);
  return place;
}

// Calls visit(position in the plane) for a window, rows innermost.
template <typename Index, typename Visit>
__device__ void ForWindow(const Pool<Index>& pool, const Range<Index>* ranges,
                          Visit visit) {
  for (Index i = 0; i < ranges[0].count; ++i) {
    const Index at_d = ranges[0].first + i * pool.axes[0].dilation;
    for (Index j = 0; j < ranges[1].count; ++j) {
      const Index at_h = ranges[1].first + j * pool.axes[1].dilation;
      const Index row =
          (at_d * pool.axes[1].input + at_h) * pool.axes[2].input +
          ranges[2].first;
      for (Index k = 0; k < ranges[2].count; ++k) {
        visit(row + k * pool.axes[2].dilation);
      }
    }
  }
}

template <typename T, typename Index, int kVector>
__global__ void PoolWindows(Pool<Index> pool, const Vector<T, kVector>* x,
                            Vector<T, kVector>* y) {
  using C = Compute<T>;
  using Unsigned = std::make_unsigned_t<Index>;
  const Unsigned step = static_cast<Unsigned>(gridDim.x) * blockDim.x;
  const Unsigned first =
      static_cast<Unsigned>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (Unsigned at = first; at < pool.count; at += step) {
    const Place<Index> place = PlaceOf(pool, at);
    Range<Index> ranges[kSpatialRank];
    for (int i = 0; i < kSpatialRank; ++i) {
      ranges[i] =
          Clip(pool.axes[i], place.output[i], Index{0}, pool.axes[i].input);
    }
    C results[kVector];
    for (int v = 0; v < kVector; ++v) {
      results[v] = pool.reduction == Reduction::kMaximum ? LeastOf<C>() : C{0};
    }
    ForWindow(pool, ranges, [&](Index position) {
      const Vector<T, kVector> elements =
          x[place.plane + position * place.position];
      for (int v = 0; v < kVector; ++v) {
        results[v] = Joined(pool.reduction, pool.p, results[v],
                            static_cast<C>(ToCompute(elements.elements[v])));
      }
    });
    Vector<T, kVector> out;
    for (int v = 0; v < kVector; ++v) {
      out.elements[v] =
          Convert<T>(Finished(pool, results[v], ranges, place.output));
    }
    y[at] = out;
  }
}

template <typename T>
__global__ void PoolIndices(Pool<int64_t> pool, const T* x, T* y,
                            int64_t* indices, bool is_column_major) {
  using C = Compute<T>;
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  for (uint64_t at =
           static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       at < pool.count; at += step) {
    const Place<int64_t> place = PlaceOf(pool, at);
    Range<int64_t> ranges[kSpatialRank];
    for (int i = 0; i < kSpatialRank; ++i) {
      ranges[i] =
          Clip(pool.axes[i], place.output[i], int64_t{0}, pool.axes[i].input);
    }
    C maximum = LeastOf<C>();
    int64_t found = -1;
    ForWindow(pool, ranges, [&](int64_t position) {
      const C element = static_cast<C>(ToCompute(x[place.plane + position]));
      // The first is taken even where it is the least value there is.
      if (found < 0 || element > maximum) {
        if (element > maximum) maximum = element;
        found = position;
      }
    });
    if (y != nullptr) y[at] = Convert<T>(maximum);
    if (found >= 0 && is_column_major) {
      const int64_t w = found % pool.axes[2].input;
      const int64_t h = found / pool.axes[2].input % pool.axes[1].input;
      const int64_t d = found / pool.axes[2].input / pool.axes[1].input;
      found = d + pool.axes[0].input * (h + pool.axes[1].input * w);
    }
    indices[at] = found < 0 ? -1 : place.plane + found;
  }
}

// The windows of a call; `y` is the shape of any of its outputs.
struct Geometry {
  WindowAxis windows[kSpatialRank];
  int64_t inputs[kSpatialRank] = {1, 1, 1};
  int64_t outputs[kSpatialRank] = {1, 1, 1};
  int64_t channels;

  Geometry(const PoolParams& params, const Shape& x, const Shape& y) {
    const int rank = x.rank() - 2;
    const int first = params.channels_last ? 1 : 2;
    channels = x[params.channels_last ? x.rank() - 1 : 1];
    for (int i = 0; i < rank; ++i) {
      const int axis = kSpatialRank - rank + i;
      inputs[axis] = x[first + i];
      outputs[axis] = y[first + i];
      windows[axis] = ResolveWindowAxis(params, i, rank, inputs[axis]);
    }
  }

  // Whether all numbers on the way fit 32 bits.
  bool is_narrow() const {
    for (int i = 0; i < kSpatialRank; ++i) {
      const WindowAxis& window = windows[i];
      for (int64_t number :
           {window.kernel, window.dilation, window.pad_begin, window.pad_end,
            outputs[i] * window.stride, inputs[i]}) {
        if (number >= kMostNarrow / 4) return false;
      }
    }
    return true;
  }
};

template <typename Index>
Pool<Index> PoolOf(const Geometry& geometry, const PoolParams& params,
                   Reduction reduction, int64_t outputs, int vector) {
  Pool<Index> pool = {};
  for (int i = 0; i < kSpatialRank; ++i) {
    const WindowAxis& window = geometry.windows[i];
    pool.axes[i] = {.kernel = static_cast<Index>(window.kernel),
                    .stride = static_cast<Index>(window.stride),
                    .dilation = static_cast<Index>(window.dilation),
                    .pad_begin = static_cast<Index>(window.pad_begin),
                    .pad_end = static_cast<Index>(window.pad_end),
                    .input = static_cast<Index>(geometry.inputs[i]),
                    .output = static_cast<Index>(geometry.outputs[i])};
    pool.outputs[i] = Divisor<std::make_unsigned_t<Index>>(geometry.outputs[i]);
  }
  pool.channels =
      Divisor<std::make_unsigned_t<Index>>(geometry.channels / vector);
  pool.channels_last = params.channels_last;
  pool.counts_padding = params.count_include_pad;
  pool.reduction = reduction;
  pool.p = static_cast<Index>(params.p);
  pool.count = static_cast<std::make_unsigned_t<Index>>(outputs / vector);
  return pool;
}

template <typename T, typename Index, int kVector>
absl::Status EnqueueWindows(const KernelCall& call, const Geometry& geometry,
                            Reduction reduction) {
  const int64_t outputs = call.output_layout(0).shape.element_count();
  using Elements = Vector<T, kVector>;
  return Launch(call.context, PoolWindows<T, Index, kVector>,
                ForElements(outputs / kVector),
                PoolOf<Index>(geometry, std::get<PoolParams>(call.params),
                              reduction, outputs, kVector),
                reinterpret_cast<const Elements*>(call.input<T>(0)),
                reinterpret_cast<Elements*>(call.output<T>(0)));
}

template <typename T, Reduction kReduction>
absl::Status RunPool(const KernelCall& call) {
  constexpr int kVector = 16 / sizeof(T);
  const auto& params = std::get<PoolParams>(call.params);
  const Shape& x = call.input_layout(0).shape;
  const Shape& y = call.output_layout(0).shape;
  if (y.element_count() == 0) return absl::OkStatus();
  const Geometry geometry(params, x, y);
  const bool is_narrow =
      geometry.is_narrow() &&
      std::max(x.element_count(), y.element_count()) < kMostNarrow;
  if (!is_narrow) {
    return EnqueueWindows<T, int64_t, 1>(call, geometry, kReduction);
  }
  if (params.channels_last && geometry.channels % kVector == 0 &&
      IsAligned(call.input<T>(0), 16) && IsAligned(call.output<T>(0), 16)) {
    return EnqueueWindows<T, int32_t, kVector>(call, geometry, kReduction);
  }
  return EnqueueWindows<T, int32_t, 1>(call, geometry, kReduction);
}

template <typename T>
absl::Status RunMaxPoolIndices(const KernelCall& call) {
  const auto& params = std::get<PoolParams>(call.params);
  // With both outputs' shapes being one, either tells it.
  const Shape& y = call.output_layout(1).shape;
  if (y.element_count() == 0) return absl::OkStatus();
  const Geometry geometry(params, call.input_layout(0).shape, y);
  return Launch(call.context, PoolIndices<T>, ForElements(y.element_count()),
                PoolOf<int64_t>(geometry, params, Reduction::kMaximum,
                                y.element_count(), 1),
                call.input<T>(0),
                call.outputs[0].is_present() ? call.output<T>(0) : nullptr,
                call.output<int64_t>(1), params.indices_are_column_major);
}

absl::Status AcceptsPool(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  const int rank = site.input(0).shape.rank() - 2;
  if (rank <= kSpatialRank) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("spatial rank ", rank, " is above ", kSpatialRank));
}

// The row's dtypes also match a node without indices.
absl::Status AcceptsIndices(const NodeSite& site) {
  const int outputs = static_cast<int>(site.dtypes.size()) - site.input_count;
  if (outputs < 2 || site.output_dtype(1) == DType::kUndefined) {
    return absl::FailedPreconditionError("nobody asks for indices");
  }
  return AcceptsPool(site);
}

KernelCost PoolCost(const NodeSite& site) {
  double window = 1;
  for (int64_t extent : std::get<PoolParams>(site.params).kernel_shape) {
    window *= static_cast<double>(extent);
  }
  const auto outputs = static_cast<double>(
      site.layouts[site.layouts.size() - 1].shape.element_count());
  const auto inputs = static_cast<double>(site.input(0).shape.element_count());
  const auto bytes = static_cast<double>(ByteSize(site.input_dtype(0), 1));
  return {.flops = window * outputs,
          .bytes = bytes * (outputs + inputs),
          .efficiency = 0.1};
}

#define POOL(T, dtype, suffix, op, name, reduction)                   \
  TENSORD_CUDA_ROW(op, name "_" suffix, All(DType::dtype), "pool.cu", \
                   .accepts = &AcceptsPool, .cost = &PoolCost,        \
                   .run = &RunPool<T, Reduction::reduction>,          \
                   .caps = {.takes_channels_last = true})
#define MAX_POOL_INDICES(T, dtype, suffix, ...)                              \
  TENSORD_CUDA_ROW(MaxPool, "max_pool_indices_" suffix,                      \
                   (Takes({DType::dtype}, {DType::dtype, DType::kInt64})),   \
                   "pool.cu", .accepts = &AcceptsIndices, .cost = &PoolCost, \
                   .run = &RunMaxPoolIndices<T>)

constexpr KernelEntry kRows[] = {
    TENSORD_CUDA_FLOATS(POOL, AveragePool, "average_pool", kMean),
    TENSORD_CUDA_FLOATS(POOL, LpPool, "lp_pool", kNorm),
    TENSORD_CUDA_FLOATS(POOL, MaxPool, "max_pool", kMaximum),
    POOL(int8_t, kInt8, "i8", MaxPool, "max_pool", kMaximum),
    POOL(uint8_t, kUInt8, "u8", MaxPool, "max_pool", kMaximum),
    TENSORD_CUDA_FLOATS(MAX_POOL_INDICES),
    MAX_POOL_INDICES(int8_t, kInt8, "i8"),
    MAX_POOL_INDICES(uint8_t, kUInt8, "u8"),
};

}  // namespace

absl::Span<const KernelEntry> PoolRows() { return kRows; }

}  // namespace tensord::cuda
