// MatMul, as numpy.matmul, on oneDNN.
//
//   y[batch, r, c] = sum over t of a[batch, r, t] * b[batch, t, c]
//
// as backends/cpu/kernels/matmul.cc has it: all are contiguous, y is none of
// the inputs' buffers. float32 throughout, or factors rounded to bfloat16; the
// order of a sum is the library's, the same for each run. A constant b that all
// of a shares is packed once. An epilogue is computed part by part.

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/api/matmul_geometry.h"
#include "backends/cpu/onednn/onednn_kernels.h"
#include "backends/cpu/onednn/product.h"

namespace tensord::onednn {
namespace {

ProductSite SiteOf(const matmul::Product& product, bool has_constant_b) {
  return {.m = product.m,
          .n = product.n,
          .k = product.k,
          .a_row = product.k,
          .b_row = product.n,
          .has_constant_b = has_constant_b && product.batch == 1};
}

ProductSite SiteOf(const NodeSite& site, Factors factors) {
  const ProductSite product =
      SiteOf(matmul::Resolve(site.input(0).shape, site.input(1).shape),
             site.host_constant(1) != nullptr);
  return factors == Factors::kBFloat16 ? product.Rounded() : product;
}

int64_t BatchOf(const NodeSite& site) {
  return matmul::Resolve(site.input(0).shape, site.input(1).shape).batch;
}

}  // namespace

template <Factors kFactors>
absl::Status AcceptsMatMul(const NodeSite& site) {
  if constexpr (kFactors == Factors::kBFloat16) {
    if (absl::Status s = CheckBFloat16(site.precision); !s.ok()) return s;
  }
  if (absl::Status status = AcceptsEpilogue(site); !status.ok()) return status;
  if (site.layouts.empty()) return absl::OkStatus();
  return Product::Accepts(SiteOf(site, kFactors));
}

template <Factors kFactors>
KernelCost MatMulCost(const NodeSite& site) {
  return ProductCost(site, SiteOf(site, kFactors), BatchOf(site));
}

template <Factors kFactors>
uint64_t MatMulWorkspaceBytes(const NodeSite& site) {
  return ProductWorkspaceBytes(SiteOf(site, kFactors), BatchOf(site));
}

template <Factors kFactors>
PreparedState PrepareMatMul(const NodeSite& site, Device& device) {
  return ProductState::Create(
      site, SiteOf(site, kFactors),
      reinterpret_cast<const float*>(site.host_constant(1)), device);
}

absl::Status RunMatMul(const KernelCall& call) {
  const auto& state = static_cast<const ProductState&>(*call.state);
  const matmul::Product product =
      matmul::Resolve(call.input_layout(0).shape, call.input_layout(1).shape);
  const float* a = call.input<float>(0);
  const float* b = call.input<float>(1);
  float* y = call.output<float>(0);
  const int64_t parts = state.product().part_count();
  const double part_flops = 2.0 * product.m * product.n * product.k / parts;
  return ForParts(
      *call.context.workers, product.batch * parts,
      static_cast<int64_t>(kPartFlops / part_flops), call.context.workspace,
      state.scratch_bytes(), [&](int64_t index, std::byte* scratch) {
        const matmul::Product::Offsets offsets = product.At(index / parts);
        const int64_t first = index / parts * product.m * product.n;
        absl::Status status =
            state.product().Run(index % parts, a + offsets.a, b + offsets.b,
                                nullptr, y + first, scratch);
        if (status.ok()) state.Finish(call, index % parts, first);
        return status;
      });
}

#define TENSORD_INSTANTIATE(kFactors)                                     \
  template absl::Status AcceptsMatMul<kFactors>(const NodeSite& site);    \
  template KernelCost MatMulCost<kFactors>(const NodeSite& site);         \
  template uint64_t MatMulWorkspaceBytes<kFactors>(const NodeSite& site); \
  template PreparedState PrepareMatMul<kFactors>(const NodeSite& site,    \
                                                 Device& device);

TENSORD_INSTANTIATE(Factors::kFloat32)
TENSORD_INSTANTIATE(Factors::kBFloat16)

}  // namespace tensord::onednn
