// Gemm on oneDNN: a matrix product with a matrix added.
//
//   y = alpha * a' * b' + beta * c
//
// as backends/cpu/kernels/gemm.cc has it: a' [M, K] and b' [K, N] are a and b,
// or their transposes; c broadcasts to y [M, N] and may be absent. All are
// contiguous; y is none of the inputs' buffers. float32 throughout, or
// factors rounded to bfloat16; the order of a sum is the library's, the same
// for each run. A constant b is packed once. An epilogue is computed part by
// part.

#include <utility>

#include "backends/cpu/kernels/gemm_addend.h"
#include "backends/cpu/onednn/onednn_kernels.h"
#include "backends/cpu/onednn/product.h"

namespace tensord::onednn {
namespace {

// A row that is added as it is, which the library does by itself.
bool IsBias(const GemmParams& params, const Shape& c, int64_t columns) {
  const int rank = c.rank();
  return params.alpha == 1 && params.beta == 1 && rank >= 1 &&
         c[rank - 1] == columns && c.element_count() == columns;
}

ProductSite SiteOf(const NodeSite& site, Factors factors) {
  const auto& params = std::get<GemmParams>(site.params);
  const Shape& y = site.output(0).shape;
  const int64_t m = y[0];
  const int64_t n = y[1];
  const int64_t k = site.input(0).shape[params.transpose_a ? 0 : 1];
  const ProductSite product = {
      .m = m,
      .n = n,
      .k = k,
      .a_row = params.transpose_a ? 1 : k,
      .a_column = params.transpose_a ? m : 1,
      .b_row = params.transpose_b ? 1 : n,
      .b_column = params.transpose_b ? k : 1,
      .scale = params.alpha,
      .has_bias = site.has_input(2) && IsBias(params, site.input(2).shape, n),
      .has_constant_b = site.host_constant(1) != nullptr};
  return factors == Factors::kBFloat16 ? product.Rounded() : product;
}

void Add(const Addend<float>& addend, const Product::Part& part,
         int64_t row_stride, float* y) {
  if (addend.c == nullptr) return;
  for (int64_t row = part.row; row < part.row + part.row_count; ++row) {
    float* to = y + row * row_stride;
    for (int64_t i = part.column; i < part.column + part.column_count; ++i) {
      to[i] += addend.at(row, i);
    }
  }
}

}  // namespace

template <Factors kFactors>
absl::Status AcceptsGemm(const NodeSite& site) {
  if constexpr (kFactors == Factors::kBFloat16) {
    if (absl::Status s = CheckBFloat16(site.precision); !s.ok()) return s;
  }
  if (absl::Status status = AcceptsEpilogue(site); !status.ok()) return status;
  if (site.layouts.empty()) return absl::OkStatus();
  return Product::Accepts(SiteOf(site, kFactors));
}

template <Factors kFactors>
KernelCost GemmCost(const NodeSite& site) {
  return ProductCost(site, SiteOf(site, kFactors), 1);
}

template <Factors kFactors>
uint64_t GemmWorkspaceBytes(const NodeSite& site) {
  return ProductWorkspaceBytes(SiteOf(site, kFactors), 1);
}

template <Factors kFactors>
PreparedState PrepareGemm(const NodeSite& site, Device& device) {
  return ProductState::Create(
      site, SiteOf(site, kFactors),
      reinterpret_cast<const float*>(site.host_constant(1)), device);
}

absl::Status RunGemm(const KernelCall& call) {
  const auto& state = static_cast<const ProductState&>(*call.state);
  const Product& product = state.product();
  const Addend<float> addend(call);
  const float* bias = state.has_bias() ? call.input<float>(2) : nullptr;
  float* y = call.output<float>(0);
  return ForParts(
      *call.context.workers, product.part_count(), 1, call.context.workspace,
      state.scratch_bytes(), [&](int64_t part, std::byte* scratch) {
        absl::Status status = product.Run(
            part, call.input<float>(0), call.input<float>(1), bias, y, scratch);
        if (!status.ok()) return status;
        if (bias == nullptr) {
          Add(addend, product.part(part), product.column_count(), y);
        }
        state.Finish(call, part, 0);
        return absl::OkStatus();
      });
}

#define TENSORD_INSTANTIATE(kFactors)                                   \
  template absl::Status AcceptsGemm<kFactors>(const NodeSite& site);    \
  template KernelCost GemmCost<kFactors>(const NodeSite& site);         \
  template uint64_t GemmWorkspaceBytes<kFactors>(const NodeSite& site); \
  template PreparedState PrepareGemm<kFactors>(const NodeSite& site,    \
                                               Device& device);

TENSORD_INSTANTIATE(Factors::kFloat32)
TENSORD_INSTANTIATE(Factors::kBFloat16)

}  // namespace tensord::onednn
