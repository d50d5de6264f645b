#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_PRODUCT_PLAN_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_PRODUCT_PLAN_H_

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/backend.h"
#include "backends/cuda/kernels/simple_epilogue.h"

namespace tensord::cuda {

// Matrix products as cuBLASLt computes them:
//
//   y[i] = activation(alpha * a'[i] * b'[i] + beta * addend[i] + bias)
//
// for i of the batch. a' [m, k] and b' [k, n] are a and b or their transposes,
// y and addend are [m, n], bias is [n]; all row-major and dense. A batch stride
// of 0 lets one matrix meet all.
//
// Threading and ownership: a plain value.
struct ProductProblem {
  DType dtype = DType::kFloat32;  // of everything; sums are float32
  bool allows_tf32 = false;
  int64_t m = 0, n = 0, k = 0;
  int64_t batch = 1;
  int64_t a_batch_stride = 0, b_batch_stride = 0;  // in elements
  bool transposes_a = false, transposes_b = false;
  float alpha = 1;
  float beta = 0;  // 0: there is no addend
  bool has_bias = false;
  Activation activation = Activation::kNone;  // kRelu, kGeluByTanh
  uint32_t alignment = 16;  // bytes, of every operand's first element

  std::string Key() const;
};

// Scratch memory that a plan may use, whatever its problem: what NVIDIA advises
// for Hopper. The arena holds it once for all nodes.
inline constexpr uint64_t kProductWorkspaceBytes = uint64_t{32} << 20;

// One problem, and the way that was the fastest of those that the library
// proposes for it on one device.
//
// Threading: immutable; many lanes run it at once. Ownership: owns its parts.
class ProductPlan {
 public:
  // Measures on the device; problems that were measured before are remembered
  // until the process ends. kUnimplemented where the library has no way.
  static absl::StatusOr<std::shared_ptr<const ProductPlan>> Create(
      const ProductProblem& problem, Device& device);

  struct Operands {
    const void* a = nullptr;
    const void* b = nullptr;
    const void* addend = nullptr;
    const void* bias = nullptr;
    void* y = nullptr;
    void* workspace = nullptr;  // kProductWorkspaceBytes
  };
  absl::Status Run(cudaStream_t stream, const Operands& operands) const;

  // What the choice was measured at; 0 where there was nothing to choose from.
  double measured_ns() const { return measured_ns_; }

 private:
  explicit ProductPlan(const ProductProblem& problem) : problem_(problem) {}

  absl::Status Describe();
  absl::Status DescribeOperation(const void* bias,
                                 cublasLtMatmulDescOpaque_t& operation) const;
  absl::Status Choose(Device& device);

  const ProductProblem problem_;
  cublasLtHandle_t handle_ = nullptr;
  // The library's matrices are column-major, so it computes y's transpose: its
  // left factor is b.
  cublasLtMatrixLayoutOpaque_t b_ = {}, a_ = {}, y_ = {};
  cublasLtMatmulAlgo_t algorithm_ = {};
  double measured_ns_ = 0;
};

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_PRODUCT_PLAN_H_
