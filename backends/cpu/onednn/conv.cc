// Conv over one to three spatial dimensions, channels in groups, on oneDNN.
//
//   y[n, m, o] = bias[m] + sum over c, t of
//                w[m, c, t] * x[n, g * C/G + c, o * stride - pad + t *
//                dilation]
//
// as backends/cpu/kernels/conv.cc has it. x and y are contiguous, channels
// first or last; w [M, C/G, kernel...] is constant and packed once; y is none
// of the inputs' buffers. float32 throughout, or factors rounded to
// bfloat16; the order of a sum is the library's, the same for each run.
//
// The library is fast where channels come last; conv_state.h says what is done
// where they come first.

#include "absl/strings/str_cat.h"
#include "backends/cpu/onednn/conv_state.h"
#include "backends/cpu/onednn/onednn_kernels.h"
#include "backends/cpu/packed_store.h"

namespace tensord::onednn {
namespace {

// What it costs to turn one element around.
constexpr double kTurnFlops = 160;
// Windows of one channel each are not products.
constexpr double kDepthwiseSpeedup = 0.23;
// A single pixel takes the library so many calls' time more.
constexpr double kPixelCalls = 4;

// Nothing is to be computed.
bool IsEmpty(const NodeSite& site) {
  return site.output(0).shape.element_count() == 0;
}

ConvSite SiteOf(const NodeSite& site, Factors factors) {
  ConvSite conv{
      .geometry = ConvGeometryOf(site),
      .is_channels_last = std::get<ConvParams>(site.params).channels_last,
      .has_bias = site.has_input(2)};
  if (factors == Factors::kBFloat16) conv.x_dtype = conv.w_dtype = dnnl_bf16;
  return conv;
}

}  // namespace

template <Factors kFactors>
absl::Status AcceptsConv(const NodeSite& site) {
  if constexpr (kFactors == Factors::kBFloat16) {
    if (absl::Status s = CheckBFloat16(site.precision); !s.ok()) return s;
  }
  if (absl::Status status = AcceptsEpilogue(site); !status.ok()) return status;
  if (site.layouts.empty()) return absl::OkStatus();
  if (absl::Status status = conv::CheckSpatialRank(site.input(0).shape);
      !status.ok()) {
    return status;
  }
  if (site.host_constant(1) == nullptr) {
    return absl::FailedPreconditionError("the weights are not constant");
  }
  if (IsEmpty(site)) return absl::OkStatus();
  const ConvSite conv = SiteOf(site, kFactors);
  if (!conv.is_channels_last && conv.geometry.taps() == 1) {
    // Turning the image around costs more than the library gains.
    return absl::FailedPreconditionError(
        "channels come first, and the windows are single pixels");
  }
  constexpr int64_t kMinRoundedChannels = 8;
  if (kFactors == Factors::kBFloat16 &&
      conv.geometry.channels < kMinRoundedChannels) {
    // Rounding the image costs more than the library gains.
    return absl::FailedPreconditionError(
        absl::StrCat(conv.geometry.channels, " channels a group are below ",
                     kMinRoundedChannels));
  }
  return ConvState::Accepts(conv);
}

template <Factors kFactors>
KernelCost ConvCost(const NodeSite& site) {
  const double x = site.input(0).shape.element_count();
  const double w = site.input(1).shape.element_count();
  const double y = site.output(0).shape.element_count();
  const conv::Geometry geometry = ConvGeometryOf(site);
  const bool is_depthwise = geometry.groups > 1 && geometry.channels == 1;
  const double speedup =
      is_depthwise
          ? kDepthwiseSpeedup
          : (kFactors == Factors::kBFloat16 ? kRoundedSpeedup : kSpeedup);
  double flops = kCallFlops + 2 * y * geometry.depth() / speedup;
  if (!is_depthwise && geometry.outputs() == 1) {
    flops += kPixelCalls * kCallFlops;
  }
  if (!std::get<ConvParams>(site.params).channels_last) {
    flops += kTurnFlops * (x + y);
  }
  return {.flops = flops + EpilogueFlops(site),
          .bytes = (x + w + y) * sizeof(float)};
}

template <Factors kFactors>
uint64_t ConvWorkspaceBytes(const NodeSite& site) {
  return IsEmpty(site) ? 0 : ConvState::WorkspaceBytes(SiteOf(site, kFactors));
}

template <Factors kFactors>
PreparedState PrepareConv(const NodeSite& site, Device& device) {
  if (IsEmpty(site)) return nullptr;
  const std::byte* w = site.host_constant(1);
  const auto elements = [w] { return w; };
  return ConvState::Create(
      site, SiteOf(site, kFactors),
      {.content = HostBytes(site, 1), .change = "", .elements = elements},
      device);
}

absl::Status RunConv(const KernelCall& call) {
  if (call.state == nullptr) return absl::OkStatus();
  return static_cast<const ConvState&>(*call.state)
      .Run(call, {.x = call.input<float>(0),
                  .bias = call.has_input(2) ? call.input<float>(2) : nullptr,
                  .y = call.output<float>(0)});
}

#define TENSORD_INSTANTIATE(kFactors)                                   \
  template absl::Status AcceptsConv<kFactors>(const NodeSite& site);    \
  template KernelCost ConvCost<kFactors>(const NodeSite& site);         \
  template uint64_t ConvWorkspaceBytes<kFactors>(const NodeSite& site); \
  template PreparedState PrepareConv<kFactors>(const NodeSite& site,    \
                                               Device& device);

TENSORD_INSTANTIATE(Factors::kFloat32)
TENSORD_INSTANTIATE(Factors::kBFloat16)

}  // namespace tensord::onednn
