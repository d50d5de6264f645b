#ifndef TENSORD_BACKENDS_VULKAN_KERNELS_ROWS_H_
#define TENSORD_BACKENDS_VULKAN_KERNELS_ROWS_H_

#include "absl/types/span.h"
#include "backends/api/kernel.h"

namespace tensord::vulkan {

// The rows of each family of kernels, in the order in which an operator's rows
// are tried. Constant data of the backend's library.
absl::Span<const KernelEntry> CopyRows();
absl::Span<const KernelEntry> ChainRows();
absl::Span<const KernelEntry> UnaryRows();
absl::Span<const KernelEntry> BinaryRows();
absl::Span<const KernelEntry> SelectRows();
absl::Span<const KernelEntry> CastRows();
absl::Span<const KernelEntry> MovementRows();
absl::Span<const KernelEntry> GatherRows();
absl::Span<const KernelEntry> MatMulRows();
absl::Span<const KernelEntry> ConvRows();
absl::Span<const KernelEntry> SoftmaxRows();
absl::Span<const KernelEntry> NormalizationRows();
absl::Span<const KernelEntry> BatchNormalizationRows();
absl::Span<const KernelEntry> ReduceRows();
absl::Span<const KernelEntry> PoolRows();
absl::Span<const KernelEntry> GlobalPoolRows();
absl::Span<const KernelEntry> ResizeRows();
absl::Span<const KernelEntry> AttentionRows();
absl::Span<const KernelEntry> PadRows();
absl::Span<const KernelEntry> QuantizeRows();
absl::Span<const KernelEntry> CumulateRows();

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_KERNELS_ROWS_H_
