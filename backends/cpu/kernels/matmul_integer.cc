// MatMulInteger, with shapes as numpy.matmul's.
//
//   y[batch, r, c] = sum over t of (a[batch, r, t] - a_zero) *
//                    (b[batch, t, c] - b_zero)
//
// a and b are int8 or uint8 each, contiguous; the optional zero points are one
// element, one for each row of a (column of b), or [..., M, 1] ([..., 1, N])
// with the matrices' own batch. y is another buffer. Exact in int32, which
// wraps around.

#include <algorithm>
#include <cstdint>

#include "backends/api/kernel.h"
#include "backends/cpu/kernels/efficiency.h"
#include "backends/cpu/kernels/integer_matmul.h"

namespace tensord {

KernelCost MatMulIntegerCost(const NodeSite& site) {
  const IntegerMatMul product(site.input(0).shape, site.input(1).shape);
  const double outputs = site.output(0).shape.element_count();
  return {.flops = 2 * outputs * product.k,
          .bytes = 4 * outputs + site.input(0).shape.element_count() +
                   site.input(1).shape.element_count(),
          .efficiency = kPortableEfficiency};
}

template <typename A, typename B>
absl::Status RunMatMulInteger(const KernelCall& call) {
  IntegerMatMul product(call.input_layout(0).shape, call.input_layout(1).shape);
  product.a = QuantizedBytes::Of(call.input<A>(0));
  product.b = QuantizedBytes::Of(call.input<B>(1));
  if (call.has_input(2)) {
    product.a_zeros = QuantizedBytes::Of(call.input<A>(2));
    product.a_zero_index = LineIndex::Of(call.input_layout(2).shape);
  }
  if (call.has_input(3)) {
    product.b_zeros = QuantizedBytes::Of(call.input<B>(3));
    product.b_zero_index = LineIndex::Of(call.input_layout(3).shape);
  }
  int32_t* y = call.output<int32_t>(0);
  product.Run(*call.context.workers,
              [&](int64_t index, int64_t row, int64_t column, int64_t count,
                  const int32_t* sums) {
                std::copy_n(sums, count,
                            y + (index * product.m + row) * product.n + column);
              });
  return absl::OkStatus();
}

template absl::Status RunMatMulInteger<int8_t, int8_t>(const KernelCall&);
template absl::Status RunMatMulInteger<int8_t, uint8_t>(const KernelCall&);
template absl::Status RunMatMulInteger<uint8_t, int8_t>(const KernelCall&);
template absl::Status RunMatMulInteger<uint8_t, uint8_t>(const KernelCall&);

}  // namespace tensord
