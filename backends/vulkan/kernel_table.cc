#include "backends/vulkan/kernel_table.h"

#include <vector>

#include "backends/vulkan/kernels/rows.h"

namespace tensord::vulkan {
namespace {

// Where two families have rows of one operator, their order here decides.
// One a line, since many hands add to it.
// clang-format off
constexpr absl::Span<const KernelEntry> (*kFamilies[])() = {
    &CopyRows,
    &ChainRows,
    &UnaryRows,
    &BinaryRows,
    &SelectRows,
    &CastRows,
    &MovementRows,
    &GatherRows,
    &MatMulRows,
    &ConvRows,
    &SoftmaxRows,
    &NormalizationRows,
    &BatchNormalizationRows,
    &ReduceRows,
    &PoolRows,
    &GlobalPoolRows,
    &ResizeRows,
    &AttentionRows,
    &PadRows,
    &QuantizeRows,
    &CumulateRows,
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

absl::Span<const KernelEntry> VulkanKernels() {
  static const auto* const rows = new std::vector<KernelEntry>(Concatenated());
  return *rows;
}

}  // namespace tensord::vulkan
