// MatMul, as numpy.matmul, on oneDNN.
//
//   y[batch, r, c] = sum over t of a[batch, r, t] * b[batch, t, c]
//
// as backends/cpu/kernels/matmul.cc has it: all are contiguous, y is none of
// the inputs' buffers. float32 throughout; the order of a sum is the library's,
// the same for each run. A constant b that all of a shares is packed once.

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cpu/kernels/matmul_geometry.h"
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

ProductSite SiteOf(const NodeSite& site) {
  return SiteOf(matmul::Resolve(site.input(0).shape, site.input(1).shape),
                site.host_constant(1) != nullptr);
}

int64_t BatchOf(const NodeSite& site) {
  return matmul::Resolve(site.input(0).shape, site.input(1).shape).batch;
}

class State final : public KernelState {
 public:
  State(std::unique_ptr<Product> product, uint64_t scratch_bytes)
      : product(std::move(product)), scratch_bytes(scratch_bytes) {}
  const std::unique_ptr<Product> product;
  const uint64_t scratch_bytes;
};

}  // namespace

absl::Status AcceptsMatMul(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  return Product::Accepts(SiteOf(site));
}

uint64_t MatMulWorkspaceBytes(const NodeSite& site) {
  const ProductSite product = SiteOf(site);
  return ScratchBytesForParts(BatchOf(site) * Product::PartCount(product),
                              Product::ScratchBytes(product));
}

PreparedState PrepareMatMul(const NodeSite& site, Device& device) {
  const ProductSite product_site = SiteOf(site);
  auto product = Product::Create(
      product_site, reinterpret_cast<const float*>(site.host_constant(1)),
      device);
  if (!product.ok()) return product.status();
  return std::make_unique<State>(*std::move(product),
                                 Product::ScratchBytes(product_site));
}

absl::Status RunMatMul(const KernelCall& call) {
  const auto& state = static_cast<const State&>(*call.state);
  const matmul::Product product =
      matmul::Resolve(call.input_layout(0).shape, call.input_layout(1).shape);
  const float* a = call.input<float>(0);
  const float* b = call.input<float>(1);
  float* y = call.output<float>(0);
  const int64_t parts = state.product->part_count();
  const double part_flops = 2.0 * product.m * product.n * product.k / parts;
  return ForParts(
      *call.context.workers, product.batch * parts,
      static_cast<int64_t>(kPartFlops / part_flops), call.context.workspace,
      state.scratch_bytes, [&](int64_t index, std::byte* scratch) {
        const matmul::Product::Offsets offsets = product.At(index / parts);
        return state.product->Run(
            index % parts, a + offsets.a, b + offsets.b, nullptr,
            y + index / parts * product.m * product.n, scratch);
      });
}

}  // namespace tensord::onednn
