// QLinearMatMul on oneDNN, with shapes as numpy.matmul's.
//
//   y = saturate(round(sum * (a_scale * b_scale / y_scale)) + y_zero)
//
// as backends/cpu/kernels/qlinear_matmul.cc has it, bit for bit; b is constant
// and the same for all of a, scales are float32.

#include <algorithm>
#include <cstdint>

#include "backends/cpu/kernels/quantization.h"
#include "backends/cpu/onednn/integer_product.h"
#include "backends/cpu/onednn/onednn_kernels.h"

namespace tensord::onednn {
namespace {

enum Input { kA, kAScale, kAZero, kB, kBScale, kBZero, kYScale, kYZero };

constexpr IntegerOperands kOperands = {
    .a = kA, .a_zero = kAZero, .b = kB, .b_zero = kBZero};

// Multipliers of a row with a scale of its own are made so many at a time, on
// the stack.
constexpr int64_t kStretch = 512;

}  // namespace

absl::Status AcceptsQLinearMatMul(const NodeSite& site) {
  return IntegerProductState::Accepts(site, kOperands);
}

KernelCost QLinearMatMulCost(const NodeSite& site) {
  const IntegerMatMul product(site.input(kA).shape, site.input(kB).shape);
  const double outputs = site.output(0).shape.element_count();
  return {.flops = 2 * outputs * product.k / kIntegerSpeedup,
          .bytes = outputs + site.input(kA).shape.element_count() +
                   site.input(kB).shape.element_count()};
}

uint64_t QLinearMatMulWorkspaceBytes(const NodeSite& site) {
  return IntegerProductState::WorkspaceBytes(site, kOperands);
}

PreparedState PrepareQLinearMatMul(const NodeSite& site, Device& device) {
  return IntegerProductState::Create(site, kOperands, device);
}

template <typename A, typename B, typename Y>
absl::Status RunQLinearMatMul(const KernelCall& call) {
  const auto& state = static_cast<const IntegerProductState&>(*call.state);
  IntegerMatMul product(call.input_layout(kA).shape,
                        call.input_layout(kB).shape);
  product.a = QuantizedBytes::Of(call.input<A>(kA));
  product.a_zeros = QuantizedBytes::Of(call.input<A>(kAZero));
  product.b_zeros = QuantizedBytes::Of(call.input<B>(kBZero));
  product.a_zero_index = LineIndex::Of(call.input_layout(kAZero).shape);
  product.b_zero_index = LineIndex::Of(call.input_layout(kBZero).shape);
  const float* a_scales = call.input<float>(kAScale);
  const float* b_scales = call.input<float>(kBScale);
  const LineIndex a_index = LineIndex::Of(call.input_layout(kAScale).shape);
  const LineIndex b_index = LineIndex::Of(call.input_layout(kBScale).shape);
  const float y_scale = *call.input<float>(kYScale);
  const int32_t y_zero = *call.input<Y>(kYZero);
  const auto requantize = TheIntegerLoops().requantize<Y>();
  Y* y = call.output<Y>(0);
  // A row of multipliers serves all rows of a that have the same scale.
  float* multipliers = state.ColumnNumbers(call);
  for (int64_t j = 0; a_index.is_one && j < product.n; ++j) {
    multipliers[j] = Multiplier(*a_scales, b_scales[b_index.at(j, 0)], y_scale);
  }
  return state.Run(
      call, product,
      [&](int64_t index, int64_t row, int64_t column, int64_t count,
          const int32_t* sums) {
        Y* out = y + (index * product.m + row) * product.n + column;
        if (a_index.is_one) {
          requantize(sums, nullptr, multipliers + column, 1, y_zero, count,
                     out);
          return;
        }
        const float a_scale = a_scales[a_index.at(row, index * product.m)];
        for (int64_t first = 0; first < count; first += kStretch) {
          float own[kStretch];
          const int64_t length = std::min(kStretch, count - first);
          for (int64_t j = 0; j < length; ++j) {
            own[j] = Multiplier(
                a_scale, b_scales[b_index.at(column + first + j, 0)], y_scale);
          }
          requantize(sums + first, nullptr, own, 1, y_zero, length,
                     out + first);
        }
      });
}

#define TENSORD_INSTANTIATE(A, B)                                          \
  template absl::Status RunQLinearMatMul<A, B, int8_t>(const KernelCall&); \
  template absl::Status RunQLinearMatMul<A, B, uint8_t>(const KernelCall&);

TENSORD_INSTANTIATE(int8_t, int8_t)
TENSORD_INSTANTIATE(int8_t, uint8_t)
TENSORD_INSTANTIATE(uint8_t, int8_t)
TENSORD_INSTANTIATE(uint8_t, uint8_t)

}  // namespace tensord::onednn
