// QLinearConv over one to three spatial dimensions, channels in groups.
//
//   sum = bias[m] + ConvInteger's sum (conv_integer.cc)
//   y = saturate(round(sum * (x_scale * w_scale / y_scale)) + y_zero)
//
// Inputs are x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero and an
// optional bias [M] of int32; w's scale and zero point are one element or [M],
// the others' one. x, w and y are int8 or uint8 each, contiguous, y another
// buffer. Sums are exact in int32, which wraps around; the factor is a float32,
// its product with the sum a double. Rounds to the nearest integer, of two the
// even one.

#include <cstdint>

#include "backends/api/kernel.h"
#include "backends/cpu/kernels/efficiency.h"
#include "backends/cpu/kernels/integer_conv.h"
#include "backends/cpu/kernels/quantization.h"

namespace tensord {
namespace {

enum Input { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };

}  // namespace

absl::Status AcceptsQLinearConv(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  return conv::CheckSpatialRank(site.input(kX).shape);
}

KernelCost QLinearConvCost(const NodeSite& site) {
  const conv::Geometry geometry =
      conv::Resolve(std::get<ConvParams>(site.params), site.input(kX).shape,
                    site.input(kW).shape, site.output(0).shape);
  const double outputs = site.output(0).shape.element_count();
  return {.flops = 2.0 * outputs * geometry.depth(),
          .bytes = outputs + site.input(kX).shape.element_count() +
                   site.input(kW).shape.element_count(),
          .efficiency = kPortableEfficiency};
}

template <typename X, typename W, typename Y>
absl::Status RunQLinearConv(const KernelCall& call) {
  const IntegerConv product{
      .geometry = conv::Resolve(
          std::get<ConvParams>(call.params), call.input_layout(kX).shape,
          call.input_layout(kW).shape, call.output_layout(0).shape),
      .x = QuantizedBytes::Of(call.input<X>(kX)),
      .w = QuantizedBytes::Of(call.input<W>(kW)),
      .x_zero = *call.input<X>(kXZero),
      .w_zeros = QuantizedBytes::Of(call.input<W>(kWZero)),
      .has_zero_a_channel =
          call.input_layout(kWZero).shape.element_count() != 1};
  const float x_scale = *call.input<float>(kXScale);
  const float y_scale = *call.input<float>(kYScale);
  const float* w_scales = call.input<float>(kWScale);
  const bool has_scale_a_channel =
      call.input_layout(kWScale).shape.element_count() != 1;
  const int32_t* bias =
      call.has_input(kBias) ? call.input<int32_t>(kBias) : nullptr;
  const int32_t y_zero = *call.input<Y>(kYZero);
  Y* y = call.output<Y>(0);
  product.Run(*call.context.workers, [&](int64_t channel, int64_t index,
                                         int64_t count, const int32_t* sums) {
    const float multiplier = Multiplier(
        x_scale, w_scales[has_scale_a_channel ? channel : 0], y_scale);
    const uint32_t start = bias == nullptr ? 0 : bias[channel];
    for (int64_t i = 0; i < count; ++i) {
      const auto sum =
          static_cast<int32_t>(start + static_cast<uint32_t>(sums[i]));
      y[index + i] = Requantize<Y>(sum, multiplier, y_zero);
    }
  });
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(X, W)                                        \
  template absl::Status RunQLinearConv<X, W, int8_t>(const KernelCall&); \
  template absl::Status RunQLinearConv<X, W, uint8_t>(const KernelCall&);

TENSORD_INSTANTIATE(int8_t, int8_t)
TENSORD_INSTANTIATE(int8_t, uint8_t)
TENSORD_INSTANTIATE(uint8_t, int8_t)
TENSORD_INSTANTIATE(uint8_t, uint8_t)

}  // namespace tensord
