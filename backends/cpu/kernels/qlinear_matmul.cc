// QLinearMatMul, with shapes as numpy.matmul's.
//
//   y = saturate(round(sum * (a_scale * b_scale / y_scale)) + y_zero)
//
// with the sum of MatMulInteger (matmul_integer.cc). Inputs are a, a_scale,
// a_zero, b, b_scale, b_zero, y_scale, y_zero; scales and zero points of a (of
// b) are one element, one for each row (column), or [..., M, 1] ([..., 1, N])
// with the matrices' own batch; y's are one element. a, b and y are int8 or
// uint8 each, contiguous, y another buffer. Sums are exact in int32, which
// wraps around; the factor is a float32 whatever type the scales have, its
// product with the sum a double. Rounds to the nearest integer, of two the even
// one.

#include <cstdint>

#include "backends/api/float16.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/efficiency.h"
#include "backends/cpu/kernels/integer_matmul.h"
#include "backends/cpu/kernels/quantization.h"

namespace tensord {
namespace {

enum Input { kA, kAScale, kAZero, kB, kBScale, kBZero, kYScale, kYZero };

}  // namespace

KernelCost QLinearMatMulCost(const NodeSite& site) {
  const IntegerMatMul product(site.input(kA).shape, site.input(kB).shape);
  const double outputs = site.output(0).shape.element_count();
  return {.flops = 2 * outputs * product.k,
          .bytes = outputs + site.input(kA).shape.element_count() +
                   site.input(kB).shape.element_count(),
          .efficiency = kPortableEfficiency};
}

template <typename A, typename B, typename Y, typename S>
absl::Status RunQLinearMatMul(const KernelCall& call) {
  IntegerMatMul product(call.input_layout(kA).shape,
                        call.input_layout(kB).shape);
  product.a = QuantizedBytes::Of(call.input<A>(kA));
  product.b = QuantizedBytes::Of(call.input<B>(kB));
  product.a_zeros = QuantizedBytes::Of(call.input<A>(kAZero));
  product.b_zeros = QuantizedBytes::Of(call.input<B>(kBZero));
  product.a_zero_index = LineIndex::Of(call.input_layout(kAZero).shape);
  product.b_zero_index = LineIndex::Of(call.input_layout(kBZero).shape);
  const S* a_scales = call.input<S>(kAScale);
  const S* b_scales = call.input<S>(kBScale);
  const LineIndex a_index = LineIndex::Of(call.input_layout(kAScale).shape);
  const LineIndex b_index = LineIndex::Of(call.input_layout(kBScale).shape);
  const float y_scale = *call.input<S>(kYScale);
  const int32_t y_zero = *call.input<Y>(kYZero);
  Y* y = call.output<Y>(0);
  product.Run(*call.context.workers, [&](int64_t index, int64_t row,
                                         int64_t column, int64_t count,
                                         const int32_t* sums) {
    const IntegerMatMul::Matrices at = product.At(index);
    const float a_scale = a_scales[a_index.at(row, at.a * product.m)];
    Y* out = y + (index * product.m + row) * product.n + column;
    if (b_index.is_one) {
      const float multiplier = Multiplier(a_scale, *b_scales, y_scale);
      for (int64_t j = 0; j < count; ++j) {
        out[j] = Requantize<Y>(sums[j], multiplier, y_zero);
      }
      return;
    }
    for (int64_t j = 0; j < count; ++j) {
      const float b_scale = b_scales[b_index.at(column + j, at.b * product.n)];
      out[j] =
          Requantize<Y>(sums[j], Multiplier(a_scale, b_scale, y_scale), y_zero);
    }
  });
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE_AS(A, B, Y)                                        \
  template absl::Status RunQLinearMatMul<A, B, Y, float>(const KernelCall&);   \
  template absl::Status RunQLinearMatMul<A, B, Y, Float16>(const KernelCall&); \
  template absl::Status RunQLinearMatMul<A, B, Y, BFloat16>(const KernelCall&);
#define TENSORD_INSTANTIATE(A, B)      \
  TENSORD_INSTANTIATE_AS(A, B, int8_t) \
  TENSORD_INSTANTIATE_AS(A, B, uint8_t)

TENSORD_INSTANTIATE(int8_t, int8_t)
TENSORD_INSTANTIATE(int8_t, uint8_t)
TENSORD_INSTANTIATE(uint8_t, int8_t)
TENSORD_INSTANTIATE(uint8_t, uint8_t)

}  // namespace tensord
