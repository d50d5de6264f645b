// ConvInteger over one to three spatial dimensions, channels in groups.
//
//   y[n, m, o] = sum over c, t of (w[m, c, t] - w_zero) *
//                (x[n, g * C/G + c, o * stride - pad + t * dilation] - x_zero)
//
// with g the group of output channel m, and nothing where x is outside its
// extents. x is contiguous [N, C, spatial...], w [M, C/G, kernel...], both int8
// or uint8; the optional x_zero is one element, w_zero one or [M]; y [N, M,
// outputs...] is another buffer. Exact in int32, which wraps around.

#include <algorithm>
#include <cstdint>

#include "backends/api/kernel.h"
#include "backends/cpu/kernels/efficiency.h"
#include "backends/cpu/kernels/integer_conv.h"

namespace tensord {

absl::Status AcceptsConvInteger(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  return conv::CheckSpatialRank(site.input(0).shape);
}

KernelCost ConvIntegerCost(const NodeSite& site) {
  const conv::Geometry geometry =
      conv::Resolve(std::get<ConvParams>(site.params), site.input(0).shape,
                    site.input(1).shape, site.output(0).shape);
  const double outputs = site.output(0).shape.element_count();
  return {.flops = 2.0 * outputs * geometry.depth(),
          .bytes = 4 * outputs + site.input(0).shape.element_count() +
                   site.input(1).shape.element_count(),
          .efficiency = kPortableEfficiency};
}

template <typename X, typename W>
absl::Status RunConvInteger(const KernelCall& call) {
  IntegerConv product{
      .geometry = conv::Resolve(
          std::get<ConvParams>(call.params), call.input_layout(0).shape,
          call.input_layout(1).shape, call.output_layout(0).shape),
      .x = QuantizedBytes::Of(call.input<X>(0)),
      .w = QuantizedBytes::Of(call.input<W>(1))};
  if (call.has_input(2)) product.x_zero = *call.input<X>(2);
  if (call.has_input(3)) {
    product.w_zeros = QuantizedBytes::Of(call.input<W>(3));
    product.has_zero_a_channel =
        call.input_layout(3).shape.element_count() != 1;
  }
  int32_t* y = call.output<int32_t>(0);
  product.Run(*call.context.workers,
              [y](int64_t, int64_t index, int64_t count, const int32_t* sums) {
                std::copy_n(sums, count, y + index);
              });
  return absl::OkStatus();
}

template absl::Status RunConvInteger<int8_t, int8_t>(const KernelCall&);
template absl::Status RunConvInteger<int8_t, uint8_t>(const KernelCall&);
template absl::Status RunConvInteger<uint8_t, int8_t>(const KernelCall&);
template absl::Status RunConvInteger<uint8_t, uint8_t>(const KernelCall&);

}  // namespace tensord
