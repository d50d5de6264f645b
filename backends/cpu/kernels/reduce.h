#ifndef TENSORD_BACKENDS_CPU_KERNELS_REDUCE_H_
#define TENSORD_BACKENDS_CPU_KERNELS_REDUCE_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/extent_cells.h"
#include "backends/cpu/kernels/reduce_walk.h"

// What ReduceSum and its siblings share: over the dimensions that input 1
// lists; without input 1, or with an empty one, over all (or over none:
// noop_with_empty_axes).
//
// x and y are contiguous and apart. Where the axes are computed, the extents of
// y go to the extent cells.
//
// Everything is in this header, so that a kernel's revision covers it.
namespace tensord::reduce {

inline constexpr int64_t kGrainElements = 16 * 1024;

// A reduction of elements T has an accumulator, its first value, how an element
// and another accumulator come in, and what comes out:
//
//   using Accumulator;
//   static Accumulator First();
//   static void Add(Accumulator& total, T x);
//   static void Merge(Accumulator& total, Accumulator other);
//   static T Result(Accumulator total, int64_t count);

// What sums and products accumulate in: float64, so that the order does not
// matter at the elements' precision; integers modulo 2^64, which is right
// modulo every narrower power, so that they wrap as in numpy.
template <typename T>
using SumType = std::conditional_t<kIsFloat<T>, double, uint64_t>;

// Accumulators side by side: they vectorise, and one chain of operations would
// run at the latency of one.
inline constexpr int64_t kLanes = 8;

// One output whose elements come in runs of neighbours.
template <typename Reduction, typename T>
T ReduceRuns(const ReduceWalk& walk, const T* x) {
  typename Reduction::Accumulator lanes[kLanes];
  std::fill_n(lanes, kLanes, Reduction::First());
  const int64_t length = walk.reduced_run();
  walk.ForEachRun([&](int64_t offset) {
    const T* run = x + offset;
    int64_t i = 0;
    for (; i + kLanes <= length; i += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        Reduction::Add(lanes[lane], run[i + lane]);
      }
    }
    for (; i < length; ++i) Reduction::Add(lanes[i % kLanes], run[i]);
  });
  for (int64_t lane = 1; lane < kLanes; ++lane) {
    Reduction::Merge(lanes[0], lanes[lane]);
  }
  return Reduction::Result(lanes[0], walk.reduced_count());
}

// As many outputs side by side as keep the accumulators in cache.
inline constexpr int64_t kSideBySide = 64;

template <typename Reduction, typename T>
void ReduceStrip(const ReduceWalk& walk, const T* x, T* y, int64_t width) {
  typename Reduction::Accumulator strip[kSideBySide];
  std::fill_n(strip, width, Reduction::First());
  walk.ForEachRun([&](int64_t offset) {
    const T* row = x + offset;
    for (int64_t i = 0; i < width; ++i) Reduction::Add(strip[i], row[i]);
  });
  for (int64_t i = 0; i < width; ++i) {
    y[i] = Reduction::Result(strip[i], walk.reduced_count());
  }
}

inline absl::Status FindReduced(const KernelCall& call, int rank,
                                DimensionMask& is_reduced) {
  absl::Span<const int64_t> axes;
  if (call.has_input(1)) {
    axes = {call.input<int64_t>(1),
            static_cast<size_t>(call.input_layout(1).shape.element_count())};
  }
  if (axes.empty()) {
    const bool reduces_all =
        !std::get<ReduceParams>(call.params).noop_with_empty_axes;
    std::fill_n(is_reduced.begin(), rank, reduces_all);
  }
  return MarkAxes(axes, rank, is_reduced);
}

template <typename Reduction, typename T>
absl::Status Reduce(const KernelCall& call) {
  const Shape& shape = call.input_layout(0).shape;
  DimensionMask is_reduced{};
  if (absl::Status status = FindReduced(call, shape.rank(), is_reduced);
      !status.ok()) {
    return status;
  }
  Dims extents;
  for (int d = 0; d < shape.rank(); ++d) {
    if (!is_reduced[d]) {
      extents.push_back(shape[d]);
    } else if (std::get<ReduceParams>(call.params).keep_dims) {
      extents.push_back(1);
    }
  }
  ExtentCells(call.context).Write(extents);
  const ReduceWalk walk(shape, is_reduced);
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  const int64_t grain = std::max<int64_t>(
      1, kGrainElements / std::max<int64_t>(1, walk.reduced_count()));
  call.context.workers->ParallelFor(
      walk.output_count(), grain, [&](int64_t begin, int64_t end) {
        const int64_t run = walk.kept_run();
        for (int64_t at = begin; at < end;) {
          const T* first = x + walk.OffsetOf(at);
          if (run == 1) {
            y[at++] = ReduceRuns<Reduction>(walk, first);
            continue;
          }
          const int64_t width =
              std::min({kSideBySide, run - at % run, end - at});
          ReduceStrip<Reduction>(walk, first, y + at, width);
          at += width;
        }
      });
  return absl::OkStatus();
}

}  // namespace tensord::reduce

#endif  // TENSORD_BACKENDS_CPU_KERNELS_REDUCE_H_
