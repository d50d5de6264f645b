// GlobalMaxPool, GlobalAveragePool, GlobalLpPool: each plane becomes one
// element, its maximum, mean or p-norm. The first two also take channels in the
// last dimension.
//
// x is contiguous [N, C, spatial...] or [N, spatial..., C], y has spatial
// extents of 1 and is another buffer; no spatial extent of x is 0. Sums in the
// elements' own type, 16-bit ones in float32: many of one plane side by side,
// and then those. NaNs are left out of the maximum, unless all elements are.
//
// Planes of [N, C, spatial...] are dense: a warp reduces a short one, a block a
// long one. With channels last a block takes 32 channels, eight positions at a
// time.

#include <math.h>

#include <algorithm>
#include <cstdint>

#include "backends/api/kernel.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kWarps = 8;
// A plane above it is worth a block.
constexpr int64_t kShortPlane = 4096;
constexpr int64_t kMaxBlocks = int64_t{1} << 20;

enum class Reduction { kMaximum, kMean, kNorm };

template <typename C>
__device__ C JoinedTerms(Reduction reduction, C a, C b) {
  if (reduction != Reduction::kMaximum) return a + b;
  return b > a || isnan(a) ? b : a;
}

template <typename C>
__device__ C TermOf(Reduction reduction, int64_t p, C element) {
  if (reduction != Reduction::kNorm) return element;
  if (p == 2) return element * element;
  const C magnitude = fabs(element);
  return p == 1 ? magnitude : static_cast<C>(pow(magnitude, C(p)));
}

template <typename C>
__device__ C Finished(Reduction reduction, int64_t p, C result,
                      int64_t positions) {
  if (reduction == Reduction::kMean) return result / static_cast<C>(positions);
  if (reduction != Reduction::kNorm || p == 1) return result;
  return p == 2 ? static_cast<C>(sqrt(result))
                : static_cast<C>(pow(result, 1 / static_cast<C>(p)));
}

template <typename C>
__device__ C Start(Reduction reduction) {
  return reduction == Reduction::kMaximum ? -static_cast<C>(kInfinity) : C{0};
}

// y[plane] for planes of `positions` elements each. Lanes along x; with
// `is_long` all warps share a plane, else each has its own.
template <typename T>
__global__ void PoolPlanes(const T* x, T* y, int64_t planes, int64_t positions,
                           Reduction reduction, int64_t p, bool is_long) {
  using C = Compute<T>;
  __shared__ C parts[kWarps];
  const int64_t warp = threadIdx.y;
  const int64_t first = is_long ? blockIdx.x : blockIdx.x * kWarps + warp;
  const int64_t step =
      is_long ? int64_t{gridDim.x} : int64_t{gridDim.x} * kWarps;
  const int64_t start = is_long ? threadIdx.x + warp * kWarp : threadIdx.x;
  const int64_t stride = is_long ? kWarp * kWarps : kWarp;
  for (int64_t plane = first; plane < planes; plane += step) {
    const T* from = x + plane * positions;
    // The first element stands for nothing, so that NaNs alone stay NaN.
    C result = reduction == Reduction::kMaximum
                   ? static_cast<C>(ToCompute(from[0]))
                   : C{0};
    for (int64_t i = start; i < positions; i += stride) {
      result =
          JoinedTerms(reduction, result,
                      TermOf(reduction, p, static_cast<C>(ToCompute(from[i]))));
    }
    for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) {
      result = JoinedTerms(reduction, result,
                           __shfl_xor_sync(0xffffffffu, result, lanes));
    }
    if (is_long) {
      if (threadIdx.x == 0) parts[warp] = result;
      __syncthreads();
      result = parts[0];
      for (int i = 1; i < kWarps; ++i) {
        result = JoinedTerms(reduction, result, parts[i]);
      }
      __syncthreads();
    }
    if (start == 0)
      y[plane] = Convert<T>(Finished(reduction, p, result, positions));
  }
}

// y[n, c] over positions of [n, position, c]; threads along x are channels.
template <typename T>
__global__ void PoolChannelsLast(const T* x, T* y, int64_t images,
                                 int64_t positions, int64_t channels,
                                 Reduction reduction) {
  using C = Compute<T>;
  __shared__ C parts[kWarps][kWarp];
  const int64_t strips = (channels + kWarp - 1) / kWarp;
  for (int64_t job = blockIdx.x; job < images * strips; job += gridDim.x) {
    const int64_t image = job / strips;
    const int64_t c = job % strips * kWarp + threadIdx.x;
    C result = Start<C>(reduction);
    if (c < channels) {
      const T* from = x + image * positions * channels + c;
      if (reduction == Reduction::kMaximum) {
        result = static_cast<C>(ToCompute(from[0]));
      }
      for (int64_t i = threadIdx.y; i < positions; i += kWarps) {
        result = JoinedTerms(reduction, result,
                             static_cast<C>(ToCompute(from[i * channels])));
      }
    }
    parts[threadIdx.y][threadIdx.x] = result;
    __syncthreads();
    if (threadIdx.y == 0 && c < channels) {
      for (int i = 1; i < kWarps; ++i) {
        result = JoinedTerms(reduction, result, parts[i][threadIdx.x]);
      }
      y[image * channels + c] =
          Convert<T>(Finished(reduction, 1, result, positions));
    }
    __syncthreads();
  }
}

LaunchShape Blocks(int64_t count) {
  return {dim3(static_cast<unsigned>(std::min(count, kMaxBlocks))),
          dim3(kWarp, kWarps)};
}

template <typename T, Reduction kReduction>
absl::Status RunGlobalPool(const KernelCall& call) {
  const auto* params = std::get_if<PoolParams>(&call.params);
  const Shape& shape = call.input_layout(0).shape;
  const int rank = shape.rank();
  if (call.output_layout(0).shape.element_count() == 0) {
    return absl::OkStatus();
  }
  if (params != nullptr && params->channels_last) {
    const int64_t channels = shape[rank - 1];
    return Launch(call.context, PoolChannelsLast<T>,
                  Blocks(shape[0] * ((channels + kWarp - 1) / kWarp)),
                  call.input<T>(0), call.output<T>(0), shape[0],
                  shape.ElementCount(1, rank - 1), channels, kReduction);
  }
  const int64_t planes = shape[0] * shape[1];
  const int64_t positions = shape.ElementCount(2, rank);
  const bool is_long = positions > kShortPlane;
  return Launch(call.context, PoolPlanes<T>,
                Blocks(is_long ? planes : (planes + kWarps - 1) / kWarps),
                call.input<T>(0), call.output<T>(0), planes, positions,
                kReduction, params == nullptr ? int64_t{2} : params->p,
                is_long);
}

KernelCost GlobalPoolCost(const NodeSite& site) {
  const auto inputs = static_cast<double>(site.input(0).shape.element_count());
  return {
      .flops = inputs,
      .bytes = inputs * static_cast<double>(ByteSize(site.input_dtype(0), 1))};
}

#define GLOBAL_POOL(T, dtype, suffix, op, name, reduction, last)             \
  TENSORD_CUDA_ROW(op, name "_" suffix, All(DType::dtype), "global_pool.cu", \
                   .cost = &GlobalPoolCost,                                  \
                   .run = &RunGlobalPool<T, Reduction::reduction>,           \
                   .caps = {.takes_channels_last = last})

constexpr KernelEntry kRows[] = {
    TENSORD_CUDA_FLOATS(GLOBAL_POOL, GlobalAveragePool, "global_average_pool",
                        kMean, true),
    TENSORD_CUDA_FLOATS(GLOBAL_POOL, GlobalLpPool, "global_lp_pool", kNorm,
                        false),
    TENSORD_CUDA_FLOATS(GLOBAL_POOL, GlobalMaxPool, "global_max_pool", kMaximum,
                        true),
};

}  // namespace

absl::Span<const KernelEntry> GlobalPoolRows() { return kRows; }

}  // namespace tensord::cuda
