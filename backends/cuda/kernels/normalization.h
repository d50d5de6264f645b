#ifndef TENSORD_BACKENDS_CUDA_KERNELS_NORMALIZATION_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_NORMALIZATION_H_

#include "absl/status/status.h"
#include "backends/api/kernel.h"

// What normalization_rows.cc makes rows of: one function for each file of
// kernels. `dtype` is input 0's.
namespace tensord::cuda {

// softmax.cu: Softmax, LogSoftmax, Hardmax
absl::Status RunSoftmax(const KernelCall& call, OpKind op, DType dtype);

// layer_normalization.cu: LayerNormalization, whose statistics are of
// NormalizationParams::statistics_dtype; RMSNormalization
absl::Status RunLayerNormalization(const KernelCall& call, OpKind op,
                                   DType dtype);

// group_normalization.cu: GroupNormalization, InstanceNormalization
absl::Status RunGroupNormalization(const KernelCall& call, OpKind op,
                                   DType dtype);

// line_normalization.cu: LpNormalization, MeanVarianceNormalization
absl::Status RunLineNormalization(const KernelCall& call, OpKind op,
                                  DType dtype);

// batch_normalization.cu
absl::Status RunBatchNormalization(const KernelCall& call, OpKind op,
                                   DType dtype);
uint64_t BatchNormalizationWorkspaceBytes(const NodeSite& site);
absl::StatusOr<std::unique_ptr<KernelState>> PrepareBatchNormalization(
    const NodeSite& site, Device& device);

// lrn.cu
absl::Status RunLrn(const KernelCall& call, OpKind op, DType dtype);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_NORMALIZATION_H_
