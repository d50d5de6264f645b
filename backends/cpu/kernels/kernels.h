#ifndef TENSORD_BACKENDS_CPU_KERNELS_KERNELS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_KERNELS_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/kernel.h"

// The functions that the rows of kernel_table.cc point to, by file. What each
// computes stands above it in its file; templates are instantiated there for
// the dtypes that the table lists.
//
// Kernel files do not include this header: a kernel's revision covers all that
// it includes, and would change with every operator that is added here.
namespace tensord {

// batch_normalization.cc
absl::StatusOr<std::unique_ptr<KernelState>> PrepareBatchNormalization(
    const NodeSite& site, Device& device);
KernelCost BatchNormalizationCost(const NodeSite& site);
absl::Status RunBatchNormalization(const KernelCall& call);

// binary.cc
template <typename T>
absl::Status RunAdd(const KernelCall& call);
template <typename T>
absl::Status RunDiv(const KernelCall& call);
template <typename T>
absl::Status RunMul(const KernelCall& call);
template <typename T, typename Exponent>
absl::Status RunPow(const KernelCall& call);
template <typename T>
absl::Status RunSub(const KernelCall& call);

// concat.cc
template <int kElementBytes>
absl::Status RunConcat(const KernelCall& call);

// conv.cc
absl::Status AcceptsConv1x1(const NodeSite& site);
absl::Status AcceptsConvIm2col(const NodeSite& site);
absl::Status AcceptsConvDirect(const NodeSite& site);
uint64_t ConvWorkspaceBytes(const NodeSite& site);
absl::StatusOr<std::unique_ptr<KernelState>> PrepareConv(const NodeSite& site,
                                                         Device& device);
KernelCost ConvCost(const NodeSite& site);
absl::Status RunConv1x1(const KernelCall& call);
absl::Status RunConvIm2col(const KernelCall& call);
template <typename T>
absl::Status RunConvDirect(const KernelCall& call);

// gemm.cc
absl::Status AcceptsGemmFewRows(const NodeSite& site);
absl::Status AcceptsGemmAny(const NodeSite& site);
KernelCost GemmCost(const NodeSite& site);
absl::Status RunGemmFewRows(const KernelCall& call);
absl::Status RunGemmBlocked(const KernelCall& call);
template <typename T>
absl::Status RunGemmAny(const KernelCall& call);

// identity.cc
absl::Status AcceptsIdentity(const NodeSite& site);
absl::Status RunIdentity(const KernelCall& call);

// matmul.cc
absl::Status AcceptsMatMulFewRows(const NodeSite& site);
KernelCost MatMulCost(const NodeSite& site);
absl::Status RunMatMulFewRows(const KernelCall& call);
absl::Status RunMatMulBlocked(const KernelCall& call);
template <typename T>
absl::Status RunMatMulAny(const KernelCall& call);

// nonzero.cc
template <typename T>
absl::Status RunNonZero(const KernelCall& call);

// pool.cc
absl::Status AcceptsPool(const NodeSite& site);
KernelCost PoolCost(const NodeSite& site);
template <typename T>
absl::Status RunAveragePool(const KernelCall& call);
template <typename T>
absl::Status RunGlobalAveragePool(const KernelCall& call);
template <typename T>
absl::Status RunGlobalMaxPool(const KernelCall& call);
template <typename T>
absl::Status RunMaxPool(const KernelCall& call);

// softmax.cc
absl::Status AcceptsSoftmaxRows(const NodeSite& site);
KernelCost SoftmaxCost(const NodeSite& site);
template <typename T>
absl::Status RunLogSoftmaxRows(const KernelCall& call);
template <typename T>
absl::Status RunLogSoftmaxStrips(const KernelCall& call);
template <typename T>
absl::Status RunSoftmaxRows(const KernelCall& call);
template <typename T>
absl::Status RunSoftmaxStrips(const KernelCall& call);

// unary.cc
template <typename T>
absl::Status RunAbs(const KernelCall& call);
template <typename T>
absl::Status RunExp(const KernelCall& call);
template <typename T>
absl::Status RunNeg(const KernelCall& call);
template <typename T>
absl::Status RunRelu(const KernelCall& call);
template <typename T>
absl::Status RunSigmoid(const KernelCall& call);
template <typename T>
absl::Status RunSqrt(const KernelCall& call);
template <typename T>
absl::Status RunTanh(const KernelCall& call);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_KERNELS_H_
