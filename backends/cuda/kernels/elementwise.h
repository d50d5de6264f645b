#ifndef TENSORD_BACKENDS_CUDA_KERNELS_ELEMENTWISE_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_ELEMENTWISE_H_

#include <array>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/kernel.h"

// What elementwise_rows.cc makes rows of: one function for each file of
// kernels, for every operator and dtype of its rows. `dtype` is input 0's,
// unless a comment says otherwise.
namespace tensord::cuda {

// unary.cu
absl::Status RunUnary(const KernelCall& call, OpKind op, DType dtype);

// classification.cu: IsInf, IsNaN
absl::Status RunClassification(const KernelCall& call, OpKind op, DType dtype);

// clip.cu
absl::Status RunClip(const KernelCall& call, OpKind op, DType dtype);

// binary.cu: arithmetic, bits and logic of two operands of one dtype
absl::Status RunBinary(const KernelCall& call, OpKind op, DType dtype);

// comparison.cu
absl::Status RunComparison(const KernelCall& call, OpKind op, DType dtype);

// pow.cu: a base and an exponent of different dtypes
absl::Status RunMixedPow(const KernelCall& call, DType base, DType exponent);

// variadic.cu
inline constexpr int kMaxVariadicInputs = 16;
absl::Status RunVariadic(const KernelCall& call, OpKind op, DType dtype);

// where.cu: dtype is input 1's
absl::Status RunWhere(const KernelCall& call, OpKind op, DType dtype);

// elementwise_chain.cu: ElementwiseChain
absl::Status AcceptsChain(const NodeSite& site);
absl::StatusOr<std::unique_ptr<KernelState>> PrepareChain(const NodeSite& site,
                                                          Device& device);
absl::Status RunChain(const KernelCall& call, OpKind op, DType dtype);

// What an operator's parameters say to EvaluateStep(): alpha and beta.
std::array<double, 2> StepParameters(const OpParams& params);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_ELEMENTWISE_H_
