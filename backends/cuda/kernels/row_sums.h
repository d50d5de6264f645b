#ifndef TENSORD_BACKENDS_CUDA_KERNELS_ROW_SUMS_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_ROW_SUMS_H_

#include <algorithm>
#include <cstdint>

#include "backends/cuda/kernels/device.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"

// Rows that one group of threads each goes over several times: a warp for short
// ones, of which a block then has several, or the block.
namespace tensord::cuda {

inline constexpr int kRowThreads = 256;
inline constexpr int kWarpThreads = 32;

// What sums over a row accumulate in: float32 has room for 16-bit elements, of
// others float64 keeps the digits that a large mean would take.
template <typename T>
using RowSum = std::conditional_t<kIsHalf<T>, float, double>;

// One group for each row. `threads` is of a group: kWarpThreads or kRowThreads.
struct RowPlan {
  int64_t rows;
  int64_t columns;
  int threads;
};

inline RowPlan PlanRows(int64_t rows, int64_t columns) {
  return {rows, columns, columns <= 1024 ? kWarpThreads : kRowThreads};
}

inline LaunchShape ForRows(const RowPlan& plan) {
  const int64_t beside = kRowThreads / plan.threads;
  constexpr int64_t kMaxBlocks = 64 * 1024;
  return {dim3(static_cast<unsigned>(
              std::min((plan.rows + beside - 1) / beside, kMaxBlocks))),
          dim3(kRowThreads)};
}

// The calling thread's place, and its group's rows: first, first + step, ...
struct RowThread {
  int64_t first;
  int64_t step;
  int index;  // in the group
};

__device__ inline RowThread ThisRowThread(const RowPlan& plan) {
  const int beside = kRowThreads / plan.threads;
  const int thread = static_cast<int>(threadIdx.x);
  return {static_cast<int64_t>(blockIdx.x) * beside + thread / plan.threads,
          static_cast<int64_t>(gridDim.x) * beside, thread % plan.threads};
}

// The combination of all threads' values, for all of them. Every thread of the
// group calls it; combine(a, b) must not care for order.
template <typename Number, typename Combine>
__device__ Number CombineRow(const RowPlan& plan, Number value,
                             Combine combine) {
  for (int half = kWarpThreads / 2; half > 0; half /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, half));
  }
  if (plan.threads == kWarpThreads) return value;
  constexpr int kWarps = kRowThreads / kWarpThreads;
  __shared__ Number of_warps[kWarps];
  const int thread = static_cast<int>(threadIdx.x);
  __syncthreads();  // those of the last call have been read
  if (thread % kWarpThreads == 0) of_warps[thread / kWarpThreads] = value;
  __syncthreads();
  value = of_warps[0];
  for (int i = 1; i < kWarps; ++i) value = combine(value, of_warps[i]);
  return value;
}

template <typename Number>
__device__ Number SumRow(const RowPlan& plan, Number value) {
  return CombineRow(plan, value, [](Number a, Number b) { return a + b; });
}

template <typename Number>
struct Moments {
  Number mean;
  Number variance;  // of the population
};

// Of the row whose column c is element_of(c). The mean is taken off before
// squaring: the difference of mean squares cancels where the mean is large.
template <typename Number, typename ElementOf>
__device__ Moments<Number> MomentsOfRow(const RowPlan& plan, int thread,
                                        ElementOf element_of) {
  Number sum = 0;
  for (int64_t c = thread; c < plan.columns; c += plan.threads) {
    sum += static_cast<Number>(element_of(c));
  }
  const auto count = static_cast<Number>(plan.columns);
  const Number mean = SumRow(plan, sum) / count;
  Number squares = 0;
  for (int64_t c = thread; c < plan.columns; c += plan.threads) {
    const Number centred = static_cast<Number>(element_of(c)) - mean;
    squares += centred * centred;
  }
  return {mean, SumRow(plan, squares) / count};
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_ROW_SUMS_H_
