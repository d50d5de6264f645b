#ifndef TENSORD_BACKENDS_CUDA_KERNELS_ROWS_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_ROWS_H_

#include "absl/types/span.h"
#include "backends/api/kernel.h"

namespace tensord::cuda {

// The rows of each family of kernels, in the order in which an operator's rows
// are tried. Constant data of the backend's library.
absl::Span<const KernelEntry> IdentityRows();
absl::Span<const KernelEntry> ElementwiseRows();
absl::Span<const KernelEntry> CastRows();
absl::Span<const KernelEntry> NormalizationRows();
absl::Span<const KernelEntry> ReduceRows();
absl::Span<const KernelEntry> MovementRows();
absl::Span<const KernelEntry> PaddingRows();
absl::Span<const KernelEntry> PoolRows();
absl::Span<const KernelEntry> GlobalPoolRows();
absl::Span<const KernelEntry> GatherRows();
absl::Span<const KernelEntry> ScatterRows();
absl::Span<const KernelEntry> TopKRows();
absl::Span<const KernelEntry> FillRows();
absl::Span<const KernelEntry> FewRowsRows();
absl::Span<const KernelEntry> TensorProductRows();
absl::Span<const KernelEntry> ProductRows();
absl::Span<const KernelEntry> ByteProductRows();
absl::Span<const KernelEntry> ConvDepthwiseRows();
absl::Span<const KernelEntry> ConvRows();
absl::Span<const KernelEntry> ByteConvRows();
absl::Span<const KernelEntry> AttentionTensorRows();
absl::Span<const KernelEntry> AttentionRows();
absl::Span<const KernelEntry> ResizeRows();
absl::Span<const KernelEntry> GridSampleRows();
absl::Span<const KernelEntry> RoiAlignRows();
absl::Span<const KernelEntry> RecurrentRows();
absl::Span<const KernelEntry> EinsumRows();
absl::Span<const KernelEntry> DeformConvRows();
absl::Span<const KernelEntry> SequenceRows();

// Those of libraries that are opened at run time (libraries/); not emulated.
absl::Span<const KernelEntry> CublasLtRows();
absl::Span<const KernelEntry> CudnnRows();
absl::Span<const KernelEntry> NvrtcRows();

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_ROWS_H_
