#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_PRODUCT_SITE_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_PRODUCT_SITE_H_

#include "absl/status/statusor.h"
#include "backends/api/kernel.h"
#include "backends/cuda/libraries/product_plan.h"

namespace tensord::cuda {

// A MatMul or Gemm in the terms of ProductPlan: the problem, and which of the
// node's inputs its operands are.
// Threading and ownership: a plain value.
struct ProductSite {
  ProductProblem problem;
  int addend_input = -1;  // -1: there is none
  int bias_input = -1;
};

// kUnimplemented or kFailedPrecondition with what ProductPlan has no term for.
// With unknown shapes, what is judged is the rest alone, and the problem has no
// extents.
absl::StatusOr<ProductSite> ResolveProduct(const NodeSite& site);

// Whether Gelu may be computed by tanh: only where the result is rounded to 16
// bits after a sum of at least kMinDepthOfGeluByTanh products. The two formulas
// differ by at most 4.8e-4, near |x| = 2.2, which is half of what such a sum of
// one product may be off by (tolerances.h: 1e-3 times the square root of the
// depth, for float16), and 6 % of it from that depth on.
bool MayComputeGeluByTanh(DType dtype, int64_t depth);
inline constexpr int64_t kMinDepthOfGeluByTanh = 64;

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_PRODUCT_SITE_H_
