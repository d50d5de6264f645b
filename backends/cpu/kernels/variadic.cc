// Max, Mean, Min, Sum of any number of inputs.
//
//   y[i] = the greatest, mean, least or sum of x_0[i], x_1[i], ...
//
// All inputs broadcast to y's shape. All are contiguous; y may be the buffer of
// an input of its own size. Sums go from the first input to the last in the
// elements' own type, 16-bit floats in float32 with one rounding at the end.
// Max and Min are NaN where an input is.

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/instantiate.h"
#include "backends/cpu/kernels/strided_walk.h"

namespace tensord {
namespace {

constexpr int64_t kGrain = 16 * 1024;

// Elements that all inputs are folded into before the next are begun: they stay
// in the cache, and a y that is an input's buffer is written only when the
// input has been read.
constexpr int64_t kBlock = 1024;

template <typename T>
using Block = std::array<ComputeType<T>, kBlock>;

// block[k] = combine(block[k], x[at + k]) for the elements [at, end) of the
// output's shape; the first input is copied.
template <typename T, typename Combine>
void FoldIn(const KernelCall& call, int input, int64_t at, int64_t end,
            Combine combine, Block<T>& block) {
  using C = ComputeType<T>;
  const T* x = call.input<T>(input);
  const Shape& shape = call.output_layout(0).shape;
  const StridedWalk<1> walk(shape, [&](int, int d) {
    return BroadcastStride(call.input_layout(input), shape, d);
  });
  const int64_t step = walk.strides[0][walk.rank - 1];
  walk.ForRange(
      at, end,
      [&](int64_t to, const std::array<int64_t, 1>& offsets, int64_t length) {
        C* y = block.data() + (to - at);
        const T* run = x + offsets[0];
        if (input == 0) {
          for (int64_t k = 0; k < length; ++k) y[k] = run[k * step];
        } else if (step == 1) {
          for (int64_t k = 0; k < length; ++k) {
            y[k] = combine(y[k], static_cast<C>(run[k]));
          }
        } else {
          const C value = *run;
          for (int64_t k = 0; k < length; ++k) {
            y[k] = combine(y[k], value);
          }
        }
      });
}

template <typename T, typename Combine, typename Finish>
void Fold(const KernelCall& call, Combine combine, Finish finish) {
  T* y = call.output<T>(0);
  const int input_count = static_cast<int>(call.inputs.size());
  call.context.workers->ParallelFor(
      call.output_layout(0).shape.element_count(), kGrain,
      [&](int64_t begin, int64_t end) {
        Block<T> block;
        for (int64_t at = begin; at < end; at += kBlock) {
          const int64_t length = std::min(kBlock, end - at);
          for (int i = 0; i < input_count; ++i) {
            FoldIn<T>(call, i, at, at + length, combine, block);
          }
          for (int64_t k = 0; k < length; ++k) y[at + k] = finish(block[k]);
        }
      });
}

}  // namespace

template <typename T>
absl::Status RunMax(const KernelCall& call) {
  using C = ComputeType<T>;
  Fold<T>(
      call, [](C a, C b) { return a > b || a != a ? a : b; },
      [](C a) { return a; });
  return absl::OkStatus();
}

template <typename T>
absl::Status RunMin(const KernelCall& call) {
  using C = ComputeType<T>;
  Fold<T>(
      call, [](C a, C b) { return a < b || a != a ? a : b; },
      [](C a) { return a; });
  return absl::OkStatus();
}

template <typename T>
absl::Status RunSum(const KernelCall& call) {
  using C = ComputeType<T>;
  Fold<T>(
      call, [](C a, C b) { return a + b; }, [](C a) { return a; });
  return absl::OkStatus();
}

template <typename T>
absl::Status RunMean(const KernelCall& call) {
  using C = ComputeType<T>;
  const auto count = static_cast<C>(call.inputs.size());
  Fold<T>(
      call, [](C a, C b) { return a + b; }, [count](C a) { return a / count; });
  return absl::OkStatus();
}

TENSORD_INSTANTIATE_NUMBERS(RunMax);
TENSORD_INSTANTIATE_NUMBERS(RunMin);
TENSORD_INSTANTIATE_FLOATS(RunMean);
TENSORD_INSTANTIATE_FLOATS(RunSum);

}  // namespace tensord
