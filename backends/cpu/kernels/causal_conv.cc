// CausalConvWithState.
//
//   p = the past state, or zeros, and then x along the last dimension
//   y[b, c, t] = f(bias[c] + sum over j of w[c, 0, j] * p[b, c, t + j])
//   present[b, c, i] = p[b, c, L + i]
//
// x and y are [B, C, L], w is [C, 1, K], the bias [C] and 0 where absent; the
// states are [B, C, K - 1]. f is x * sigmoid(x), or nothing. All are
// contiguous; no output is an input's buffer. Adds up and computes f in
// float32, and rounds once.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"

namespace tensord {
namespace {

constexpr int64_t kGrainProducts = 32 * 1024;

// Outputs that are summed up side by side.
constexpr int64_t kSideBySide = 64;

// One channel: `before` elements of the past (zeros if null), and what follows.
template <typename T>
struct Padded {
  const T* past;
  int64_t before;
  const T* x;

  // sums[i] += weight * element first + i
  void AddProducts(float weight, int64_t first, int64_t count,
                   float* sums) const {
    const int64_t of_past = std::clamp<int64_t>(before - first, 0, count);
    if (past != nullptr) {
      for (int64_t i = 0; i < of_past; ++i) sums[i] += weight * past[first + i];
    }
    for (int64_t i = of_past; i < count; ++i) {
      sums[i] += weight * x[first + i - before];
    }
  }

  T At(int64_t i) const {
    if (i >= before) return x[i - before];
    return past == nullptr ? T(0.0f) : past[i];
  }
};

template <typename T>
void ConvolveChannel(const Padded<T>& padded, const T* weights, float bias,
                     bool is_silu, int64_t length, T* y) {
  const int64_t taps = padded.before + 1;
  for (int64_t first = 0; first < length; first += kSideBySide) {
    const int64_t count = std::min(kSideBySide, length - first);
    float sums[kSideBySide];
    std::fill_n(sums, count, bias);
    for (int64_t j = 0; j < taps; ++j) {
      padded.AddProducts(weights[j], first + j, count, sums);
    }
    for (int64_t i = 0; i < count; ++i) {
      const float sum = sums[i];
      y[first + i] = static_cast<T>(is_silu ? sum / (1 + std::exp(-sum)) : sum);
    }
  }
}

}  // namespace

KernelCost CausalConvCost(const NodeSite& site) {
  const double outputs = site.input(0).shape.element_count();
  const double taps = site.input(1).shape[2];
  return {.flops = 2 * taps * outputs,
          .bytes = 2.0 * ByteSize(site.input_dtype(0), 1) * outputs,
          .efficiency = 0.04};
}

template <typename T>
absl::Status RunCausalConvWithState(const KernelCall& call) {
  const bool is_silu = std::get<CausalConvParams>(call.params).is_silu;
  const Shape& shape = call.input_layout(0).shape;
  const int64_t channels = shape[1];
  const int64_t length = shape[2];
  const int64_t taps = call.input_layout(1).shape[2];
  const int64_t before = taps - 1;
  const T* x = call.input<T>(0);
  const T* weights = call.input<T>(1);
  const T* bias = call.has_input(2) ? call.input<T>(2) : nullptr;
  const T* past = call.has_input(3) ? call.input<T>(3) : nullptr;
  T* y = call.outputs[0].is_present() ? call.output<T>(0) : nullptr;
  T* present = call.outputs[1].is_present() ? call.output<T>(1) : nullptr;
  // In double: the extents of an empty tensor may have any product.
  const double products = static_cast<double>(taps) * length;
  call.context.workers->ParallelFor(
      shape[0] * channels,
      static_cast<int64_t>(kGrainProducts / (products + 1)) + 1,
      [=](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t c = row % channels;
          const Padded<T> padded{
              past == nullptr ? nullptr : past + row * before, before,
              x + row * length};
          if (y != nullptr) {
            ConvolveChannel<T>(padded, weights + c * taps,
                               bias == nullptr ? 0 : float{bias[c]}, is_silu,
                               length, y + row * length);
          }
          if (present == nullptr) continue;
          for (int64_t i = 0; i < before; ++i) {
            present[row * before + i] = padded.At(length + i);
          }
        }
      });
  return absl::OkStatus();
}

template absl::Status RunCausalConvWithState<float>(const KernelCall&);
template absl::Status RunCausalConvWithState<Float16>(const KernelCall&);
template absl::Status RunCausalConvWithState<BFloat16>(const KernelCall&);

}  // namespace tensord
