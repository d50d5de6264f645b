// ConvInteger over one to three spatial dimensions, channels in groups, on
// oneDNN.
//
//   y[n, m, o] = sum over c, t of (w[m, c, t] - w_zero) *
//                (x[n, g * C/G + c, o * stride - pad + t * dilation] - x_zero)
//
// as backends/cpu/kernels/conv_integer.cc has it, bit for bit. x and y are
// contiguous, channels first or last; w and its zero points are constant, the
// latter 0 (int8) or 128 (uint8); x_zero is the run's. The library has sums in
// float32 before they are int32 again, so that the weights must keep them
// within its 24 bits, whatever x is.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/cpu/onednn/conv_bytes.h"
#include "backends/cpu/onednn/onednn_kernels.h"

namespace tensord::onednn {
namespace {

enum Input { kX, kW, kXZero, kWZero };

bool IsEmpty(const NodeSite& site) {
  return site.output(0).shape.element_count() == 0;
}

ConvSite SiteOf(const NodeSite& site) {
  const conv::Geometry geometry = ConvGeometryOf(site);
  return {.geometry = geometry,
          .is_channels_last = HasChannelsLast(site, geometry),
          .x_dtype = ByteType(site.input_dtype(kX)),
          .w_dtype = dnnl_s8,
          .y_dtype = dnnl_s32,
          .has_x_zero_of_run = site.has_input(kXZero)};
}

// Whether all sums are integers that float32 has.
absl::Status CheckSums(const NodeSite& site) {
  constexpr int64_t kMostFactor = 255;  // of x, less its zero point
  constexpr int64_t kMostWeight = 128;
  constexpr int64_t kMostOfWeights = (int64_t{1} << 24) / kMostFactor;
  const Shape& w = site.input(kW).shape;
  const int64_t depth = w.ElementCount(1, w.rank());
  if (depth <= kMostOfWeights / kMostWeight) return absl::OkStatus();
  const int32_t zero = site.input_dtype(kW) == DType::kInt8 ? 0 : 128;
  for (int64_t m = 0; m < w[0]; ++m) {
    // The largest sum is of those above 0, or of those below.
    int64_t above = 0, below = 0;
    for (int64_t i = 0; i < depth; ++i) {
      const int64_t weight = ByteAt(site, kW, m * depth + i) - zero;
      (weight > 0 ? above : below) += weight;
    }
    const int64_t most = std::max(above, -below);
    if (most <= kMostOfWeights) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("weights of output channel ", m, " are up to ", most,
                     " together: float32 does not have all their sums"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AcceptsConvInteger(const NodeSite& site) {
  if (absl::Status status = CheckExactIntegers(); !status.ok()) return status;
  if (site.layouts.empty()) return absl::OkStatus();
  if (absl::Status status = conv::CheckSpatialRank(site.input(kX).shape);
      !status.ok()) {
    return status;
  }
  if (site.host_constant(kW) == nullptr ||
      (site.has_input(kWZero) && site.host_constant(kWZero) == nullptr)) {
    return absl::FailedPreconditionError(
        "the weights and their zero points are not constant");
  }
  if (absl::Status status = CheckWeightZeros(site, kW, kWZero); !status.ok()) {
    return status;
  }
  if (IsEmpty(site)) return absl::OkStatus();
  if (absl::Status status = CheckSums(site); !status.ok()) return status;
  return ConvState::Accepts(SiteOf(site));
}

KernelCost ConvIntegerCost(const NodeSite& site) {
  return ByteConvCost(site, ConvGeometryOf(site), kW, sizeof(int32_t));
}

uint64_t ConvIntegerWorkspaceBytes(const NodeSite& site) {
  return IsEmpty(site) ? 0 : ConvState::WorkspaceBytes(SiteOf(site));
}

PreparedState PrepareConvInteger(const NodeSite& site, Device& device) {
  if (IsEmpty(site)) return nullptr;
  return MakeByteConv(site, SiteOf(site), kW, device);
}

template <typename X>
absl::Status RunConvInteger(const KernelCall& call) {
  if (call.state == nullptr) return absl::OkStatus();
  const int32_t x_zero = call.has_input(kXZero) ? *call.input<X>(kXZero) : 0;
  return static_cast<const ConvState&>(*call.state)
      .Run(call, {.x = call.input<X>(kX),
                  .x_zero = x_zero,
                  .y = call.output<int32_t>(0)});
}

template absl::Status RunConvInteger<int8_t>(const KernelCall& call);
template absl::Status RunConvInteger<uint8_t>(const KernelCall& call);

}  // namespace tensord::onednn
