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
#include "backends/cpu/onednn/conv_bytes.h"
#include "backends/cpu/onednn/onednn_kernels.h"

namespace tensord::onednn {
namespace {

enum Input { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };

bool IsEmpty(const NodeSite& site) {
  return site.output(0).shape.element_count() == 0;
}

float ScaleAt(const NodeSite& site, int input, int64_t i) {
  return reinterpret_cast<const float*>(site.host_constant(input))[i];
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
  // The portable kernel, which takes what this one declines, has no epilogues:
  // what it fuses now must be taken when shapes are known.
  if (site.layouts.empty() && site.params.epilogue != nullptr) {
    return absl::FailedPreconditionError(
        "shapes are not known, and steps are fused in");
  }
  for (int input = kXScale; input <= kYZero; ++input) {
    if (site.host_constant(input) != nullptr) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("input ", input, " is not constant"));
  }
  if (site.layouts.empty()) return absl::OkStatus();
  if (absl::Status status = conv::CheckSpatialRank(site.input(kX).shape);
      !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckWeightZeros(site, kW, kWZero); !status.ok()) {
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
  KernelCost cost = ByteConvCost(site, GeometryOf(site), kW, 1);
  cost.flops += EpilogueFlops(site);
  return cost;
}

uint64_t QLinearConvWorkspaceBytes(const NodeSite& site) {
  return IsEmpty(site) ? 0 : ConvState::WorkspaceBytes(SiteOf(site));
}

PreparedState PrepareQLinearConv(const NodeSite& site, Device& device) {
  if (IsEmpty(site)) return nullptr;
  return MakeByteConv(site, SiteOf(site), kW, device);
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
