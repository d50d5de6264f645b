#ifndef TENSORD_BACKENDS_CUDA_KERNELS_CAST_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_CAST_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/kernel.h"

// What cast_rows.cc makes rows of.
namespace tensord::cuda {

// cast.cu: from `from` to the output's dtype, both with C++ types
bool IsNumber(DType dtype);
absl::StatusOr<std::unique_ptr<KernelState>> PrepareCast(const NodeSite& site,
                                                         Device& device);
absl::Status RunCast(const KernelCall& call, DType from);

// cast_small.cu: the same where either is a small one
absl::Status AcceptsCastSmall(const NodeSite& site);
absl::StatusOr<std::unique_ptr<KernelState>> PrepareCastSmall(
    const NodeSite& site, Device& device);
absl::Status RunCastSmall(const KernelCall& call);

// quantize.cu
absl::Status AcceptsQuantize(const NodeSite& site);
absl::Status AcceptsDequantize(const NodeSite& site);
absl::StatusOr<std::unique_ptr<KernelState>> PrepareQuantize(
    const NodeSite& site, Device& device);
absl::Status RunQuantize(const KernelCall& call);
absl::Status RunDequantize(const KernelCall& call);

// dynamic_quantize.cu
uint64_t DynamicQuantizeWorkspaceBytes(const NodeSite& site);
absl::Status RunDynamicQuantize(const KernelCall& call);

// dropout.cu: elements of so many bytes
absl::Status RunDropout(const KernelCall& call, int element_bytes);

// cumulate.cu: CumSum, CumProd; `dtype` is input 0's
absl::Status AcceptsCumulation(const NodeSite& site);
absl::StatusOr<std::unique_ptr<KernelState>> PrepareCumulation(
    const NodeSite& site, Device& device);
absl::Status RunCumulation(const KernelCall& call, OpKind op, DType dtype);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_CAST_H_
