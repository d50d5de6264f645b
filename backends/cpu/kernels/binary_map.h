#ifndef TENSORD_BACKENDS_CPU_KERNELS_BINARY_MAP_H_
#define TENSORD_BACKENDS_CPU_KERNELS_BINARY_MAP_H_

#include <array>
#include <cstdint>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element_map.h"
#include "backends/cpu/kernels/strided_walk.h"

namespace tensord {

// A stretch of the output and what it is made of. A step is 0 or 1.
template <typename A, typename B, typename Y>
struct PairRun {
  const A* a;
  const B* b;
  Y* y;
  int64_t a_step;
  int64_t b_step;
  int64_t length;
};

// Calls run(PairRun) for stretches that together are the output, from several
// threads. The inputs and the output are contiguous; the output may be an input
// of its own size.
template <typename A, typename B, typename Y, typename Run>
void WalkPairs(const KernelCall& call, int64_t grain, Run run) {
  const A* a = call.input<A>(0);
  const B* b = call.input<B>(1);
  Y* y = call.output<Y>(0);
  const Shape& shape = call.output_layout(0).shape;
  const StridedWalk<2> walk(shape, [&](int i, int d) {
    return BroadcastStride(call.input_layout(i), shape, d);
  });
  const int64_t a_step = walk.strides[0][walk.rank - 1];
  const int64_t b_step = walk.strides[1][walk.rank - 1];
  const auto stretch = [=](int64_t at, const std::array<int64_t, 2>& offsets,
                           int64_t length) {
    run(PairRun<A, B, Y>{a + offsets[0], b + offsets[1], y + at, a_step, b_step,
                         length});
  };
  call.context.workers->ParallelFor(
      shape.element_count(), grain,
      [&](int64_t begin, int64_t end) { walk.ForRange(begin, end, stretch); });
}

// y[i] = f(a[i], b[i]), both broadcast to y's shape; for an f that is so cheap
// that it should be done in vectors.
template <typename A, typename B, typename Y, typename Function>
void MapPairs(const KernelCall& call, Function f) {
  WalkPairs<A, B, Y>(call, kCheapGrain, [=](const PairRun<A, B, Y>& run) {
    const A* a = run.a;
    const B* b = run.b;
    Y* y = run.y;
    // The three shapes that vectorise, and the one that repeats one element.
    if (run.a_step == 1 && run.b_step == 1) {
      for (int64_t i = 0; i < run.length; ++i) y[i] = f(a[i], b[i]);
    } else if (run.a_step == 1) {
      const B b_value = *b;
      for (int64_t i = 0; i < run.length; ++i) y[i] = f(a[i], b_value);
    } else if (run.b_step == 1) {
      const A a_value = *a;
      for (int64_t i = 0; i < run.length; ++i) y[i] = f(a_value, b[i]);
    } else {
      for (int64_t i = 0; i < run.length; ++i) y[i] = f(*a, *b);
    }
  });
}

// The same for an f that costs far more than the steps, with a quarter of the
// code.
template <typename A, typename B, typename Y, typename Function>
void MapCostlyPairs(const KernelCall& call, Function f) {
  WalkPairs<A, B, Y>(call, kCostlyGrain, [=](const PairRun<A, B, Y>& run) {
    for (int64_t i = 0; i < run.length; ++i) {
      run.y[i] = f(run.a[i * run.a_step], run.b[i * run.b_step]);
    }
  });
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_BINARY_MAP_H_
