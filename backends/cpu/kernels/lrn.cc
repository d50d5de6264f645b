// LRN: local response normalisation over neighbouring channels.
//
//   y[n, c, i] = x[n, c, i] / (bias + alpha / size * sum)^beta
//   sum = the sum of x[n, k, i]^2 over k in [c - floor((size - 1) / 2),
//         c + ceil((size - 1) / 2)], those that exist
//
// x and y are contiguous [N, C, ...], different buffers. Computes in the
// elements' own type, 16-bit ones in float32. Each sum is added up anew: taking
// off the channel that leaves would leave the rounding errors of large ones
// behind.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/efficiency.h"

namespace tensord {

KernelCost LrnCost(const NodeSite& site) {
  const Shape& x = site.input(0).shape;
  const double elements = x.element_count();
  const double window = std::min(std::get<LrnParams>(site.params).size, x[1]);
  return {.flops = 2 * elements * window,
          .bytes = 2 * elements * ByteSize(site.input_dtype(0), 1),
          .efficiency = kPortableEfficiency};
}

template <typename T>
absl::Status RunLrn(const KernelCall& call) {
  using C = ComputeType<T>;
  constexpr int64_t kBlock = 64;  // neighbours that are done together
  constexpr int64_t kGrainTerms = 64 * 1024;
  const LrnParams& params = std::get<LrnParams>(call.params);
  const Shape& shape = call.input_layout(0).shape;
  const int64_t channels = shape[1];
  const int64_t inner = shape.ElementCount(2, shape.rank());
  const int64_t blocks = (inner + kBlock - 1) / kBlock;
  const int64_t before = (params.size - 1) / 2;
  const int64_t behind = params.size - 1 - before;
  const int64_t terms = kBlock * std::min(params.size, channels);
  const C factor = static_cast<C>(params.alpha) / static_cast<C>(params.size);
  const C bias = params.bias;
  const C beta = params.beta;
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  call.context.workers->ParallelFor(
      shape[0] * channels * blocks,
      kGrainTerms / std::max<int64_t>(terms, 1) + 1,
      [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t first = i % blocks * kBlock;
          const int64_t count = std::min(kBlock, inner - first);
          const int64_t plane = i / blocks;
          const int64_t c = plane % channels;
          const int64_t low = std::max<int64_t>(c - before, 0);
          const int64_t high = std::min(channels - 1, c + behind);
          C sums[kBlock] = {};
          for (int64_t k = low; k <= high; ++k) {
            const T* row = x + (plane - c + k) * inner + first;
            for (int64_t j = 0; j < count; ++j) {
              const C element = row[j];
              sums[j] += element * element;
            }
          }
          const int64_t at = plane * inner + first;
          for (int64_t j = 0; j < count; ++j) {
            y[at + j] = static_cast<T>(static_cast<C>(x[at + j]) /
                                       std::pow(bias + factor * sums[j], beta));
          }
        }
      });
  return absl::OkStatus();
}

template absl::Status RunLrn<float>(const KernelCall&);
template absl::Status RunLrn<double>(const KernelCall&);
template absl::Status RunLrn<Float16>(const KernelCall&);
template absl::Status RunLrn<BFloat16>(const KernelCall&);

}  // namespace tensord
