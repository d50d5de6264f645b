// LRN: local response normalisation over neighbouring channels.
//
//   y[n, c, i] = x[n, c, i] / (bias + alpha / size * sum)^beta
//   sum = the sum of x[n, k, i]^2 over k in [c - floor((size - 1) / 2),
//         c + ceil((size - 1) / 2)], those that exist
//
// x and y are contiguous [N, C, ...], different buffers. Computes in the
// elements' own type, 16-bit ones in float32.

#include <math.h>

#include <cstdint>

#include "backends/cuda/kernels/map.h"
#include "backends/cuda/kernels/normalization.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

struct Window {
  int64_t channels;
  int64_t inner;
  int64_t before;
  int64_t behind;
};

template <typename T>
__global__ void LrnKernel(int64_t count, Window window, Compute<T> factor,
                          Compute<T> bias, Compute<T> beta, const T* x, T* y) {
  using C = Compute<T>;
  for (int64_t i = GridThread(); i < count; i += GridThreads()) {
    const int64_t c = i / window.inner % window.channels;
    const int64_t low = c < window.before ? 0 : c - window.before;
    const int64_t past = c + window.behind + 1 < window.channels
                             ? c + window.behind + 1
                             : window.channels;
    C sum = 0;
    for (int64_t k = low; k < past; ++k) {
      const C element = ToCompute(x[i + (k - c) * window.inner]);
      sum += element * element;
    }
    y[i] = Convert<T>(ToCompute(x[i]) / pow(bias + factor * sum, beta));
  }
}

}  // namespace

absl::Status RunLrn(const KernelCall& call, OpKind, DType dtype) {
  const auto& params = std::get<LrnParams>(call.params);
  const Shape& shape = call.input_layout(0).shape;
  const int64_t count = shape.element_count();
  Window window;
  window.channels = shape[1];
  window.inner = shape.ElementCount(2, shape.rank());
  window.before = (params.size - 1) / 2;
  window.behind = params.size - 1 - window.before;
  return VisitFloat(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    return Launch(call.context, LrnKernel<T>, ForElements(count), count, window,
                  static_cast<C>(static_cast<C>(params.alpha) /
                                 static_cast<C>(params.size)),
                  static_cast<C>(params.bias), static_cast<C>(params.beta),
                  call.input<T>(0), call.output<T>(0));
  });
}

}  // namespace tensord::cuda
