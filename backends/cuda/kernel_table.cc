#include "backends/cuda/kernel_table.h"

#include <vector>

#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

// An operator's rows in order of preference: those of libraries first, then
// specialised ones, the portable ones last. Where two families have rows of one
// operator, their order here decides.
// One a line, since many hands add to it.
// clang-format off
constexpr absl::Span<const KernelEntry> (*kFamilies[])() = {
    // Of what they accept faster than libraries.
    &FewRowsRows,
    &ConvDepthwiseRows,
#ifndef TENSORD_CUDA_EMULATION
    &CublasLtRows,
    &CudnnRows,
    &NvrtcRows,
#endif
    &IdentityRows,
    &ElementwiseRows,
    &MovementRows,
    &PaddingRows,
    &PoolRows,
    &GlobalPoolRows,
    &GatherRows,
    &ScatterRows,
    &TopKRows,
    &FillRows,
    &ReduceRows,
    &TensorProductRows,
    &ProductRows,
    &ByteProductRows,
    &ConvRows,
    &ByteConvRows,
    &AttentionTensorRows,
    &AttentionRows,
    &ResizeRows,
    &GridSampleRows,
    &RoiAlignRows,
    &RecurrentRows,
    &EinsumRows,
    &DeformConvRows,
    &SequenceRows,
    &CastRows,
    &NormalizationRows,
};
// clang-format on

std::vector<KernelEntry> Concatenated() {
  std::vector<KernelEntry> rows;
  for (const auto family : kFamilies) {
    const absl::Span<const KernelEntry> more = family();
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> CudaKernels() {
  static const auto* const rows = new std::vector<KernelEntry>(Concatenated());
  return *rows;
}

}  // namespace tensord::cuda
