#ifndef TENSORD_BACKENDS_CUDA_KERNELS_MAP_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_MAP_H_

#include <algorithm>
#include <cstdint>

#include "backends/api/kernel.h"
#include "backends/cuda/kernels/broadcast_walk.h"
#include "backends/cuda/kernels/device.h"
#include "backends/cuda/kernels/launch.h"

// What kernels share whose output elements each depend on one element of each
// input. A thread makes a run of neighbouring outputs at a time, and reads and
// writes 16 bytes at once where the operands lie so.
//
// A run is read before it is written, so an output may be the buffer of an
// input of its own size.
namespace tensord::cuda {

// Elements of a run of T, also beside elements that are not larger.
template <typename T>
inline constexpr int kRunWidth = sizeof(T) >= 16 ? 1
                                 : sizeof(T) < 2 ? 8
                                                 : 16 / sizeof(T);

template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Run {
  T elements[kWidth];
};

template <typename T>
bool IsAligned(const T* x, int width) {
  return reinterpret_cast<uintptr_t>(x) % (sizeof(T) * width) == 0;
}

// Up to kWidth neighbours. `is_whole`: all of them, at an aligned address.
template <int kWidth, typename T>
__device__ void LoadRun(const T* x, int count, bool is_whole, T (&to)[kWidth]) {
  if (is_whole) {
    const auto run = *reinterpret_cast<const Run<T, kWidth>*>(x);
    for (int k = 0; k < kWidth; ++k) to[k] = run.elements[k];
  } else {
    for (int k = 0; k < kWidth; ++k) to[k] = x[k < count ? k : 0];
  }
}

template <int kWidth, typename T>
__device__ void StoreRun(const T (&from)[kWidth], int count, bool is_whole,
                         T* y) {
  if (is_whole) {
    Run<T, kWidth> run;
    for (int k = 0; k < kWidth; ++k) run.elements[k] = from[k];
    *reinterpret_cast<Run<T, kWidth>*>(y) = run;
  } else {
    for (int k = 0; k < kWidth; ++k) {
      if (k < count) y[k] = from[k];
    }
  }
}

__device__ inline int64_t GridThread() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline int64_t GridThreads() {
  return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

// y[i] = the i-th of apply(x) for runs of a contiguous x: apply(X (&)[kWidth],
// Y (&)[kWidth]) also gets elements past the end, whose results are dropped.
template <int kWidth, typename X, typename Y, typename Apply>
__device__ void MapRuns(const X* x, Y* y, int64_t count, bool is_aligned,
                        Apply apply) {
  for (int64_t first = GridThread() * kWidth; first < count;
       first += GridThreads() * kWidth) {
    const int left =
        static_cast<int>(count - first < kWidth ? count - first : kWidth);
    const bool is_whole = is_aligned && left == kWidth;
    X from[kWidth];
    Y to[kWidth];
    LoadRun<kWidth>(x + first, left, is_whole, from);
    apply(from, to);
    StoreRun<kWidth>(to, left, is_whole, y + first);
  }
}

// How kInputs operands that broadcast are read in runs.
template <int kInputs>
struct MapPlan {
  BroadcastWalk<kInputs> walk;
  int width;              // of a run: 1, or as many as one load takes
  bool repeats[kInputs];  // a run is one element, over and over
};

// In runs of `width` where each input has them, whole and aligned or the same
// element, and else element by element. `aligned[k]`: whether input k's first
// element is where a whole run may be loaded.
template <int kInputs>
MapPlan<kInputs> PlanMap(absl::Span<const Layout* const> inputs,
                         const Shape& output, int width,
                         absl::Span<const bool> aligned,
                         bool is_output_aligned) {
  MapPlan<kInputs> plan;
  plan.walk = MakeBroadcastWalk<kInputs>(inputs, output);
  plan.width = is_output_aligned ? width : 1;
  for (int k = 0; k < static_cast<int>(inputs.size()); ++k) {
    const int run = RunWidth(plan.walk, k, width);
    plan.repeats[k] = run == 0;
    if (run == 1 || (run > 1 && !aligned[k])) plan.width = 1;
  }
  // Element by element, each is located by itself.
  if (plan.width == 1) std::fill_n(plan.repeats, kInputs, false);
  return plan;
}

template <int kWidth, typename T>
__device__ void LoadOperand(const T* x, int count, bool repeats,
                            T (&to)[kWidth]) {
  if (repeats) {
    const T element = *x;
    for (int k = 0; k < kWidth; ++k) to[k] = element;
  } else {
    LoadRun<kWidth>(x, count, count == kWidth, to);
  }
}

// Two inputs that broadcast to one output: y[i] = the i-th of apply(a, b).
// kWidth is the plan's width.
template <int kWidth, typename A, typename B, typename Y, typename Apply>
__device__ void MapPairs(const MapPlan<2>& plan, const A* a, const B* b, Y* y,
                         Apply apply) {
  const int64_t count = plan.walk.count;
  for (int64_t first = GridThread() * kWidth; first < count;
       first += GridThreads() * kWidth) {
    const int left =
        static_cast<int>(count - first < kWidth ? count - first : kWidth);
    int64_t offsets[2];
    plan.walk.Locate(first, offsets);
    A from_a[kWidth];
    B from_b[kWidth];
    Y to[kWidth];
    LoadOperand<kWidth>(a + offsets[0], left, plan.repeats[0], from_a);
    LoadOperand<kWidth>(b + offsets[1], left, plan.repeats[1], from_b);
    apply(from_a, from_b, to);
    StoreRun<kWidth>(to, left, left == kWidth, y + first);
  }
}

// Launches for `count` outputs in runs.
inline LaunchShape ForRuns(int64_t count, int width) {
  const int64_t runs = (count + width - 1) / width;
  constexpr int64_t kWarp = 32;
  const int64_t threads =
      std::clamp<int64_t>((runs + kWarp - 1) / kWarp * kWarp, kWarp, 256);
  return ForElements(runs, static_cast<int>(threads));
}

// The plan of a call's inputs 0 and 1, of elements A and B, for an output of Y;
// in runs of `width` where all of them lie so.
template <typename A, typename B, typename Y>
MapPlan<2> PlanPairs(const KernelCall& call, int width) {
  const Layout* inputs[] = {&call.input_layout(0), &call.input_layout(1)};
  const bool aligned[] = {IsAligned(call.input<A>(0), width),
                          IsAligned(call.input<B>(1), width)};
  return PlanMap<2>(inputs, call.output_layout(0).shape, width, aligned,
                    IsAligned(call.output<Y>(0), width));
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_MAP_H_
