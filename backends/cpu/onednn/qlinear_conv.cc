// QLinearConv over one to three spatial dimensions, channels in groups, on
// oneDNN.
//
//   y = saturate(round((bias[m] + sum) * (x_scale * w_scale[m] / y_scale) +
//                      y_zero))
//
// with the sum of backends/cpu/kernels/qlinear_conv.cc, exact in int32. What is
// behind it is float32, so that y can be a step beside the portable kernel's
// where that rounds a tie, or one all but. x and y are contiguous, channels
// first or last, y none of the inputs' buffers; w, all scales and all zero
// points are constant, w's zero points 0 (int8) or 128 (uint8). An epilogue is
// computed part by part.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/kernels/quantization.h"
#include "backends/cpu/onednn/conv_state.h"
#include "backends/cpu/onednn/onednn_kernels.h"

namespace tensord::onednn {
namespace {

enum Input { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };

// How many times as fast as the portable kernels' arithmetic the library's is.
constexpr double kConvSpeedup = 20;
// What it costs to turn one element around.
constexpr double kTurnFlops = 16;

bool IsEmpty(const NodeSite& site) {
  return site.output(0).shape.element_count() == 0;
}

int32_t ByteAt(const NodeSite& site, int input, int64_t i) {
  const std::byte* bytes = site.host_constant(input);
  return site.input_dtype(input) == DType::kInt8
             ? reinterpret_cast<const int8_t*>(bytes)[i]
             : reinterpret_cast<const uint8_t*>(bytes)[i];
}

float ScaleAt(const NodeSite& site, int input, int64_t i) {
  return reinterpret_cast<const float*>(site.host_constant(input))[i];
}

dnnl_data_type_t ByteType(DType dtype) {
  return dtype == DType::kInt8 ? dnnl_s8 : dnnl_u8;
}

std::vector<float> Multipliers(const NodeSite& site) {
  const int64_t count = site.input(kWScale).shape.element_count();
  std::vector<float> multipliers(count);
  for (int64_t i = 0; i < count; ++i) {
    multipliers[i] =
        Multiplier(ScaleAt(site, kXScale, 0), ScaleAt(site, kWScale, i),
                   ScaleAt(site, kYScale, 0));
  }
  return multipliers;
}

// Whether the weights, without their highest bit where they are unsigned, are
// what they stand for.
absl::Status CheckWeightZeros(const NodeSite& site) {
  const int32_t wanted = site.input_dtype(kW) == DType::kInt8 ? 0 : 128;
  for (int64_t i = 0; i < site.input(kWZero).shape.element_count(); ++i) {
    const int32_t zero = ByteAt(site, kWZero, i);
    if (zero == wanted) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "a zero point of the weights is ", zero, ", not ", wanted));
  }
  return absl::OkStatus();
}

// A convolution with channels first of an image of one pixel is one with
// channels last.
bool HasChannelsLast(const NodeSite& site, const conv::Geometry& geometry) {
  return std::get<ConvParams>(site.params).channels_last ||
         (geometry.inputs() == 1 && geometry.outputs() == 1);
}

conv::Geometry GeometryOf(const NodeSite& site) {
  return conv::Resolve(std::get<ConvParams>(site.params), site.input(kX).shape,
                       site.input(kW).shape, site.output(0).shape);
}

ConvSite SiteOf(const NodeSite& site) {
  const conv::Geometry geometry = GeometryOf(site);
  return {.geometry = geometry,
          .is_channels_last = HasChannelsLast(site, geometry),
          .has_bias = site.has_input(kBias),
          .x_dtype = ByteType(site.input_dtype(kX)),
          .w_dtype = dnnl_s8,
          .y_dtype = ByteType(site.output_dtype(0)),
          .bias_dtype = dnnl_s32,
          .x_zero = ByteAt(site, kXZero, 0),
          .y_zero = ByteAt(site, kYZero, 0),
          .multipliers = Multipliers(site)};
}

}  // namespace

absl::Status AcceptsQLinearConv(const NodeSite& site) {
  if (absl::Status status = CheckExactIntegers(); !status.ok()) return status;
  if (absl::Status status = AcceptsEpilogue(site); !status.ok()) return status;
  if (site.layouts.empty()) return absl::OkStatus();
  if (absl::Status status = conv::CheckSpatialRank(site.input(kX).shape);
      !status.ok()) {
    return status;
  }
  for (int input = kXScale; input <= kYZero; ++input) {
    if (site.host_constant(input) != nullptr) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("input ", input, " is not constant"));
  }
  if (absl::Status status = CheckWeightZeros(site); !status.ok()) {
    return status;
  }
  if (IsEmpty(site)) return absl::OkStatus();
  const ConvSite conv = SiteOf(site);
  for (float multiplier : conv.multipliers) {
    if (std::isfinite(multiplier)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("scales make a factor of ", multiplier));
  }
  return ConvState::Accepts(conv);
}

KernelCost QLinearConvCost(const NodeSite& site) {
  const double x = site.input(kX).shape.element_count();
  const double w = site.input(kW).shape.element_count();
  const double y = site.output(0).shape.element_count();
  const conv::Geometry geometry = GeometryOf(site);
  double flops = 2 * y * geometry.depth() / kConvSpeedup;
  if (!HasChannelsLast(site, geometry)) flops += kTurnFlops * (x + y);
  return {.flops = flops + EpilogueFlops(site), .bytes = x + w + y};
}

uint64_t QLinearConvWorkspaceBytes(const NodeSite& site) {
  return IsEmpty(site) ? 0 : ConvState::WorkspaceBytes(SiteOf(site));
}

PreparedState PrepareQLinearConv(const NodeSite& site, Device& device) {
  if (IsEmpty(site)) return nullptr;
  const auto* w = reinterpret_cast<const uint8_t*>(site.host_constant(kW));
  std::vector<uint8_t> flipped;
  if (site.input_dtype(kW) == DType::kUInt8) {
    // 128 less, as signed ones.
    flipped.assign(w, w + site.input(kW).shape.element_count());
    for (uint8_t& element : flipped) element ^= 0x80;
    w = flipped.data();
  }
  return ConvState::Create(site, SiteOf(site), w, device);
}

absl::Status RunQLinearConv(const KernelCall& call) {
  if (call.state == nullptr) return absl::OkStatus();
  const auto bytes = [&](int input) {
    return call.has_input(input) ? call.input<uint8_t>(input) : nullptr;
  };
  return static_cast<const ConvState&>(*call.state)
      .Run(call, {.x = bytes(kX),
                  .bias = call.has_input(kBias) ? call.input<int32_t>(kBias)
                                                : nullptr,
                  .y = call.output<uint8_t>(0)});
}

}  // namespace tensord::onednn
