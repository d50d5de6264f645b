// MeanVarianceNormalization.
//
//   y = (x - mean) / (sqrt(mean of (x - mean)^2) + 1e-9)
//
// with the means over the node's axes. x and y are contiguous and may be the
// same buffer. Accumulates in float64. The mean is taken off before squaring:
// the difference of mean squares cancels where the mean is large.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/reduce_walk.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 8 * 1024;

// Calls visit(offset) for each element of one group.
template <typename Visit>
void ForEachElement(const ReduceWalk& walk, Visit visit) {
  walk.ForEachRun([&](int64_t offset) {
    for (int64_t i = 0; i < walk.reduced_run(); ++i) visit(offset + i);
  });
}

}  // namespace

template <typename T>
absl::Status RunMeanVarianceNormalization(const KernelCall& call) {
  const Shape& shape = call.input_layout(0).shape;
  DimensionMask is_reduced{};
  if (absl::Status status = MarkAxes(std::get<AxesParams>(call.params).axes,
                                     shape.rank(), is_reduced);
      !status.ok()) {
    return status;
  }
  if (shape.element_count() == 0) return absl::OkStatus();
  const ReduceWalk walk(shape, is_reduced);
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  const auto count = static_cast<double>(walk.reduced_count());
  call.context.workers->ParallelFor(
      walk.output_count(), kGrainElements / walk.reduced_count() + 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t group = begin; group < end; ++group) {
          const int64_t first = walk.OffsetOf(group);
          double sum = 0;
          ForEachElement(walk, [&](int64_t at) { sum += x[first + at]; });
          const double mean = sum / count;
          double squares = 0;
          ForEachElement(walk, [&](int64_t at) {
            const double centred = x[first + at] - mean;
            squares += centred * centred;
          });
          const double scale = 1 / (std::sqrt(squares / count) + 1e-9);
          ForEachElement(walk, [&](int64_t at) {
            y[first + at] = static_cast<T>((x[first + at] - mean) * scale);
          });
        }
      });
  return absl::OkStatus();
}

template absl::Status RunMeanVarianceNormalization<float>(const KernelCall&);
template absl::Status RunMeanVarianceNormalization<double>(const KernelCall&);
template absl::Status RunMeanVarianceNormalization<Float16>(const KernelCall&);
template absl::Status RunMeanVarianceNormalization<BFloat16>(const KernelCall&);

}  // namespace tensord
