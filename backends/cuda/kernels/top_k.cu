// TopK along an axis.
//
//   y[o, j, i] = the j-th greatest (least) of x[o, c, i] over c
//   indices[o, j, i] = its c
//
// Every operand is contiguous, seen as [outer, extent along the axis, inner];
// no output is x's buffer, and either may be absent. Of equal elements the one
// with the lower c comes first; a NaN is greater than any number. k must be
// known before the run.
//
// A block takes one line. It holds the best so far in shared memory, sorted,
// and collects behind them elements that come before the k-th of those. When
// the places for them are full it sorts all in a bitonic network, and goes on
// with the better half.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "backends/api/axis_view.h"
#include "backends/api/host_arguments.h"
#include "backends/api/kernel.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

constexpr int kThreads = 256;
// Places for the best. There are as many for those that wait, at least one for
// each thread; 48 KiB of shared memory hold both, with their indices.
constexpr int kLeastKept = kThreads;
constexpr int MostKept(int element_bytes) {
  return element_bytes == 8 ? 1024 : 2048;
}
constexpr int64_t kMaxBlocks = int64_t{1} << 20;

struct TopKView {
  int64_t lines;
  int64_t extent;
  int64_t inner;
  int64_t k;
  int kept;  // a power of two, at least k
  bool takes_largest;
};

// An element and its c; -1 stands behind all others.
template <typename T>
__device__ bool ComesFirst(T x, int x_index, T y, int y_index,
                           bool takes_largest) {
  if (x_index < 0 || y_index < 0) return y_index < 0 && x_index >= 0;
  const auto a = ToCompute(x);
  const auto b = ToCompute(y);
  const bool x_is_nan = a != a;
  const bool y_is_nan = b != b;
  if (x_is_nan || y_is_nan) {
    if (x_is_nan && y_is_nan) return x_index < y_index;
    return x_is_nan == takes_largest;
  }
  if (a == b) return x_index < y_index;
  return (a > b) == takes_largest;
}

// Sorts `count` places, a power of two, the best first; all of the block's
// threads call it.
template <typename T>
__device__ void Sort(T* values, int* indices, int count, bool takes_largest) {
  for (int size = 2; size <= count; size *= 2) {
    for (int distance = size / 2; distance > 0; distance /= 2) {
      for (int pair = threadIdx.x; pair < count / 2; pair += kThreads) {
        const int low = 2 * pair - (pair & (distance - 1));
        const int high = low + distance;
        const bool is_descending = (low & size) == 0;
        if (ComesFirst(values[high], indices[high], values[low], indices[low],
                       takes_largest) == is_descending) {
          const T value = values[low];
          values[low] = values[high];
          values[high] = value;
          const int index = indices[low];
          indices[low] = indices[high];
          indices[high] = index;
        }
      }
      __syncthreads();
    }
  }
}

template <typename T>
__global__ void TopKLines(TopKView view, const T* x, T* y, int64_t* places) {
  __shared__ int waiting;
  T* values = DynamicShared<T>();
  int* indices = reinterpret_cast<int*>(values + 2 * view.kept);
  const int worst = static_cast<int>(view.k) - 1;
  for (int64_t line = blockIdx.x; line < view.lines; line += gridDim.x) {
    const int64_t outer = line / view.inner;
    const int64_t inner = line % view.inner;
    const T* from = x + outer * view.extent * view.inner + inner;
    for (int i = threadIdx.x; i < view.kept; i += kThreads) indices[i] = -1;
    if (threadIdx.x == 0) waiting = 0;
    __syncthreads();
    for (int64_t first = 0; first < view.extent; first += kThreads) {
      const int64_t c = first + threadIdx.x;
      if (c < view.extent) {
        const T value = from[c * view.inner];
        const int index = static_cast<int>(c);
        if (ComesFirst(value, index, values[worst], indices[worst],
                       view.takes_largest)) {
          const int place = view.kept + atomicAdd(&waiting, 1);
          values[place] = value;
          indices[place] = index;
        }
      }
      __syncthreads();
      const int count = waiting;
      __syncthreads();  // nobody adds to it before all have seen it
      const bool is_last = first + kThreads >= view.extent;
      if (count == 0 || (count + kThreads <= view.kept && !is_last)) continue;
      for (int i = count + threadIdx.x; i < view.kept; i += kThreads) {
        indices[view.kept + i] = -1;
      }
      if (threadIdx.x == 0) waiting = 0;
      __syncthreads();
      Sort(values, indices, 2 * view.kept, view.takes_largest);
    }
    const int64_t to = outer * view.k * view.inner + inner;
    for (int64_t j = threadIdx.x; j < view.k; j += kThreads) {
      if (y != nullptr) y[to + j * view.inner] = values[j];
      if (places != nullptr) places[to + j * view.inner] = indices[j];
    }
    __syncthreads();
  }
}

bool HasOutput(const KernelCall& call, size_t i) {
  return i < call.outputs.size() && call.outputs[i].is_present();
}

template <typename T>
absl::Status RunTopK(const KernelCall& call) {
  const auto& params = std::get<TopKParams>(call.params);
  const AxisView x(call.input_layout(0).shape, params.axis);
  if (!HasOutput(call, 0) && !HasOutput(call, 1)) return absl::OkStatus();
  const AxisView y(call.output_layout(HasOutput(call, 0) ? 0 : 1).shape,
                   params.axis);
  const int64_t lines = x.outer * x.inner;
  if (lines * x.extent * y.extent == 0) return absl::OkStatus();
  int kept = kLeastKept;
  while (kept < y.extent) kept *= 2;
  const TopKView view = {lines,    x.extent, x.inner,
                         y.extent, kept,     params.takes_largest};
  return Launch(
      call.context, TopKLines<T>,
      {dim3(static_cast<unsigned>(std::min(lines, kMaxBlocks))), dim3(kThreads),
       2 * static_cast<size_t>(kept) * (sizeof(T) + 4)},
      view, call.input<T>(0), HasOutput(call, 0) ? call.output<T>(0) : nullptr,
      HasOutput(call, 1) ? call.output<int64_t>(1) : nullptr);
}

absl::Status AcceptsTopK(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  if (absl::Status s = CheckKnown(site, {1}); !s.ok()) return s;
  const int64_t k = HostIntegers(site, 1)[0];
  const int64_t extent =
      AxisView(site.input(0).shape, std::get<TopKParams>(site.params).axis)
          .extent;
  if (k < 0 || k > extent) {
    return absl::InvalidArgumentError(
        absl::StrCat("k is ", k, " of ", extent, " elements"));
  }
  const int most = MostKept(BitWidth(site.input_dtype(0)) / 8);
  if (k > most || extent > int64_t{1} << 30) {
    return absl::UnimplementedError(absl::StrCat(
        "k is ", k, " of ", extent, ", at most ", most, " are kept"));
  }
  return absl::OkStatus();
}

KernelCost TopKCost(const NodeSite& site) {
  constexpr double kSteps = 10;  // most elements are looked at once
  const auto elements =
      static_cast<double>(site.input(0).shape.element_count());
  return {
      .flops = 2 * kSteps * elements,
      .bytes = elements * static_cast<double>(ByteSize(site.input_dtype(0), 1)),
      .efficiency = 0.05};
}

#define TOP_K(T, dtype, suffix, ...)                                         \
  TENSORD_CUDA_ROW(                                                          \
      TopK, "top_k_" suffix,                                                 \
      (Takes({DType::dtype, DType::kInt64}, {DType::dtype, DType::kInt64})), \
      "top_k.cu", .accepts = &AcceptsTopK, .cost = &TopKCost,                \
      .run = &RunTopK<T>)

constexpr KernelEntry kRows[] = {
    TENSORD_CUDA_FLOATS(TOP_K),
    TENSORD_CUDA_INTEGERS(TOP_K),
};

}  // namespace

absl::Span<const KernelEntry> TopKRows() { return kRows; }

}  // namespace tensord::cuda
