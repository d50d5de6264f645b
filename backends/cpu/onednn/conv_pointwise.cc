// Conv whose windows are single pixels, channels last, on oneDNN: a matrix
// product of pixels by weights.
//
//   y[p, m] = bias[m] + sum over c of x[p, c] * w[m, c]
//
// x [N, spatial..., C] and y [N, spatial..., M] are contiguous, w
// [M, C, 1...] is constant and packed once; y is none of the inputs' buffers.
// float32 throughout, or factors rounded to bfloat16; the order of a sum is the
// library's, the same for each run. An epilogue is computed part by part.

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cpu/onednn/conv_parts.h"
#include "backends/cpu/onednn/onednn_kernels.h"
#include "backends/cpu/onednn/product.h"

namespace tensord::onednn {
namespace {

ProductSite SiteOf(const NodeSite& site, Factors factors) {
  const conv::Geometry geometry = ConvGeometryOf(site);
  const ProductSite product = {.m = geometry.images * geometry.outputs(),
                               .n = geometry.rows,
                               .k = geometry.channels,
                               .a_row = geometry.channels,
                               .b_row = 1,
                               .b_column = geometry.channels,
                               .has_bias = site.has_input(2),
                               .has_constant_b = true};
  return factors == Factors::kBFloat16 ? product.Rounded() : product;
}

}  // namespace

template <Factors kFactors>
absl::Status AcceptsConvPointwise(const NodeSite& site) {
  if constexpr (kFactors == Factors::kBFloat16) {
    if (absl::Status s = CheckBFloat16(site.precision); !s.ok()) return s;
  }
  const auto& params = std::get<ConvParams>(site.params);
  if (!params.channels_last) {
    return absl::FailedPreconditionError("channels come first");
  }
  if (params.group != 1) {
    return absl::FailedPreconditionError(
        absl::StrCat(params.group, " groups, not 1"));
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
  for (const conv::Axis& axis : ConvGeometryOf(site).axes) {
    const WindowAxis& window = axis.window;
    if (window.kernel == 1 && window.stride == 1 && window.pad_begin == 0 &&
        window.pad_end == 0) {
      continue;
    }
    return absl::FailedPreconditionError(absl::StrCat(
        "kernel ", window.kernel, ", stride ", window.stride, ", pads ",
        window.pad_begin, " and ", window.pad_end, ", not 1, 1, 0 and 0"));
  }
  return Product::Accepts(SiteOf(site, kFactors));
}

template <Factors kFactors>
KernelCost ConvPointwiseCost(const NodeSite& site) {
  return ProductCost(site, SiteOf(site, kFactors), 1);
}

template <Factors kFactors>
uint64_t ConvPointwiseWorkspaceBytes(const NodeSite& site) {
  return ProductWorkspaceBytes(SiteOf(site, kFactors), 1);
}

template <Factors kFactors>
PreparedState PrepareConvPointwise(const NodeSite& site, Device& device) {
  return ProductState::Create(
      site, SiteOf(site, kFactors),
      reinterpret_cast<const float*>(site.host_constant(1)), device);
}

absl::Status RunConvPointwise(const KernelCall& call) {
  const auto& state = static_cast<const ProductState&>(*call.state);
  const float* bias = state.has_bias() ? call.input<float>(2) : nullptr;
  return ForParts(*call.context.workers, state.product().part_count(), 1,
                  call.context.workspace, state.scratch_bytes(),
                  [&](int64_t part, std::byte* scratch) {
                    absl::Status status = state.product().Run(
                        part, call.input<float>(0), nullptr, bias,
                        call.output<float>(0), scratch);
                    if (status.ok()) state.Finish(call, part, 0);
                    return status;
                  });
}

#define TENSORD_INSTANTIATE(kFactors)                                         \
  template absl::Status AcceptsConvPointwise<kFactors>(const NodeSite& site); \
  template KernelCost ConvPointwiseCost<kFactors>(const NodeSite& site);      \
  template uint64_t ConvPointwiseWorkspaceBytes<kFactors>(                    \
      const NodeSite& site);                                                  \
  template PreparedState PrepareConvPointwise<kFactors>(const NodeSite& site, \
                                                        Device& device);

TENSORD_INSTANTIATE(Factors::kFloat32)
TENSORD_INSTANTIATE(Factors::kBFloat16)

}  // namespace tensord::onednn
