#ifndef TENSORD_BACKENDS_VULKAN_KERNELS_MATMUL_H_
#define TENSORD_BACKENDS_VULKAN_KERNELS_MATMUL_H_

#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/kernel.h"
#include "backends/vulkan/plan.h"

namespace tensord::vulkan {

// Products of matrices, one or many: matmul.comp's table. Strides are in
// elements. A plain value.
//
//   y[batch, r, c] = alpha * sum over t of a[batch, r, t] * b[batch, t, c]
//                    + beta * addend[r, c]
struct Matrices {
  static constexpr int kMostDimensions = 6;

  uint32_t m, n, k;
  uint32_t a_row, a_column, b_row, b_column;
  uint32_t c_row, c_column;  // of the addend
  float alpha, beta;
  uint32_t batch;
  uint32_t batch_rank;
  struct {
    uint32_t extent, a, b;
  } dimensions[kMostDimensions];  // the innermost first
};

// Adds the products to the plan, with the node's epilogue; y is output 0.
absl::Status AddProducts(const NodeSite& site, const Matrices& of,
                         const Operand& a, const Operand& b,
                         const Operand& addend, Plan& plan);

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_KERNELS_MATMUL_H_
