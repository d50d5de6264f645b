// BatchNormalization at inference.
//
//   y[n, c, i] = x[n, c, i] * factor[c] + offset[c]
//   factor = scale / sqrt(variance + epsilon), offset = bias - mean * factor
//
// x and y are contiguous [N, C, inner] and may be the same buffer; the four
// statistics are [C]. Computes in float32 and rounds once.

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

absl::Status PlanBatchNormalization(const NodeSite& site, Plan& plan) {
  for (int i = 1; i <= 4; ++i) {
    if (IsFloat(site.input_dtype(i)) &&
        site.input_dtype(i) == site.input_dtype(i <= 2 ? 1 : 3)) {
      continue;
    }
    return absl::UnimplementedError(
        absl::StrCat("input ", i, " is ", DTypeName(site.input_dtype(i))));
  }
  const Shape& shape = site.input(0).shape;
  const int rank = shape.rank();
  struct {
    uint32_t count, channels, inner;
    float epsilon;
  } arguments = {
      static_cast<uint32_t>(shape.element_count()),
      static_cast<uint32_t>(rank > 1 ? shape[1] : 1),
      static_cast<uint32_t>(shape.ElementCount(rank > 1 ? 2 : 1, rank)),
      std::get<BatchNormalizationParams>(site.params).epsilon};
  plan.Add(
      shaders::k_batch_normalization,
      {256, static_cast<uint32_t>(site.input_dtype(0)),
       static_cast<uint32_t>(site.input_dtype(1)),
       static_cast<uint32_t>(site.input_dtype(3))},
      GroupsFor(shape.element_count()),
      {plan.In(0), plan.In(1), plan.In(2), plan.In(3), plan.In(4), plan.Out(0)},
      arguments);
  return absl::OkStatus();
}

RowList Rows() {
  RowList rows;
  for (const DType dtype : kFloats) {
    rows.Add<&PlanBatchNormalization>(
        OpKind::kBatchNormalization,
        RowList::NameOf("batch_normalization", dtype),
        Takes({dtype, DType::kUndefined}, {dtype}),
        {.source = "backends/vulkan/kernels/batch_normalization.cc",
         .caps = {.in_place_inputs = 0b1}});
  }
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> BatchNormalizationRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
