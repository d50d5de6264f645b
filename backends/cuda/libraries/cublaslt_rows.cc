// MatMul and Gemm by cuBLASLt, with what it can do behind a product:
//
//   y = activation(alpha * a * b + beta * c + bias + residual)
//
// float32 (strict, or TF32 where the request allows it), float16 and bfloat16,
// with sums in float32. Of several ways that the library proposes the fastest
// is measured when the node is prepared (product_plan.h). Relu here gives 0 for
// a NaN where the portable kernels let it pass.
//
// A Gelu by erf is computed by tanh where the difference is well inside the
// tolerance (product_site.h), since the library has only that one; elsewhere it
// is declined, and stays a kernel of its own behind the product.

#include <memory>
#include <utility>

#include "backends/cuda/kernels/rows.h"
#include "backends/cuda/libraries/cublaslt.h"
#include "backends/cuda/libraries/operand_address.h"
#include "backends/cuda/libraries/product_plan.h"
#include "backends/cuda/libraries/product_site.h"
#include "backends/cuda/libraries/sibling.h"
#include "backends/cuda/stream_of.h"

namespace tensord::cuda {
namespace {

absl::Status AcceptsProduct(const NodeSite& site) {
  if (const auto& library = CublasLt::Get(); !library.ok()) {
    return library.status();
  }
  return ResolveProduct(site).status();
}

constexpr const char* RowName(OpKind op, DType dtype) {
  const bool is_matmul = op == OpKind::kMatMul;
  switch (dtype) {
    case DType::kFloat16:
      return is_matmul ? "matmul_f16_cublaslt" : "gemm_f16_cublaslt";
    case DType::kBFloat16:
      return is_matmul ? "matmul_bf16_cublaslt" : "gemm_bf16_cublaslt";
    default:
      return is_matmul ? "matmul_f32_cublaslt" : "gemm_f32_cublaslt";
  }
}

uint64_t ProductWorkspaceBytes(const NodeSite&) {
  return kProductWorkspaceBytes + kWorkspaceSlack;
}

struct ProductState final : KernelState {
  std::shared_ptr<const ProductPlan> plan;
  int addend_input = -1;
  int bias_input = -1;
  int64_t element_bytes = 0;
};

absl::StatusOr<std::unique_ptr<KernelState>> PrepareProduct(
    const NodeSite& site, Device& device) {
  const absl::StatusOr<ProductSite> product = ResolveProduct(site);
  if (!product.ok()) return product.status();
  absl::StatusOr<std::shared_ptr<const ProductPlan>> plan =
      ProductPlan::Create(product->problem, device);
  if (absl::IsUnimplemented(plan.status())) {
    return PrepareSibling(RowName(site.op, product->problem.dtype), site,
                          device, ProductWorkspaceBytes(site), plan.status());
  }
  if (!plan.ok()) return plan.status();
  auto state = std::make_unique<ProductState>();
  state->plan = *std::move(plan);
  state->addend_input = product->addend_input;
  state->bias_input = product->bias_input;
  state->element_bytes = ByteSize(product->problem.dtype, 1);
  return state;
}

absl::Status RunOwnProduct(const KernelCall& call) {
  const auto& state = static_cast<const ProductState&>(*call.state);
  const auto address = [&](int input) {
    return InputAddress(call, input, state.element_bytes);
  };
  return state.plan->Run(StreamOf(call.context),
                         {.a = address(0),
                          .b = address(1),
                          .addend = address(state.addend_input),
                          .bias = address(state.bias_input),
                          .y = OutputAddress(call, 0, state.element_bytes),
                          .workspace = WorkspaceAddress(call)});
}

absl::Status RunProduct(const KernelCall& call) {
  return RunOrSibling(call, &RunOwnProduct);
}

// DeviceInfo's rate is that of float32; tensor cores take 16-bit factors about
// twelve times as fast.
KernelCost ProductCost(const NodeSite& site) {
  const absl::StatusOr<ProductSite> product = ResolveProduct(site);
  if (!product.ok()) return {};  // AcceptsProduct() has seen it
  const ProductProblem& problem = product->problem;
  const double outputs = site.output(0).shape.element_count();
  const double elements = outputs + site.input(0).shape.element_count() +
                          site.input(1).shape.element_count();
  constexpr double kTensorCores = 12;
  const bool is_float32 = problem.dtype == DType::kFloat32;
  return {.flops = 2 * outputs * problem.k / (is_float32 ? 1 : kTensorCores),
          .bytes = elements * ByteSize(problem.dtype, 1),
          .efficiency = 0.8};
}

constexpr KernelEntry Row(OpKind op, DType dtype) {
  return {.op = op,
          .dtypes = All(dtype),
          .name = RowName(op, dtype),
          .source = "library:cublasLt",
          .accepts = &AcceptsProduct,
          .workspace_bytes = &ProductWorkspaceBytes,
          .prepare = &PrepareProduct,
          .cost = &ProductCost,
          .run = &RunProduct,
          .caps = {.takes_epilogue = true}};
}

constexpr KernelEntry kRows[] = {
    Row(OpKind::kMatMul, DType::kFloat32),
    Row(OpKind::kMatMul, DType::kFloat16),
    Row(OpKind::kMatMul, DType::kBFloat16),
    Row(OpKind::kGemm, DType::kFloat32),
    Row(OpKind::kGemm, DType::kFloat16),
    Row(OpKind::kGemm, DType::kBFloat16),
};

}  // namespace

absl::Span<const KernelEntry> CublasLtRows() { return kRows; }

}  // namespace tensord::cuda
