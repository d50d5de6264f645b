// LayerNormalization, RMSNormalization, GroupNormalization,
// InstanceNormalization.
//
//   y = (x - mean) / sqrt(variance + epsilon) * scale + bias
//   RMSNormalization: y = x / sqrt(mean of x^2 + epsilon) * scale
//
// with the mean and variance of a row: the dimensions from the axis on, or the
// channels of a group in one sample. With has_skip, LayerNormalization's x is
// the sum of inputs 0 and 3, rounded. x and y are contiguous and may be the
// same buffer. Statistics and values are float32; the result is rounded once.
// LayerNormalization's further outputs are a row's mean and
// 1 / sqrt(variance + epsilon).

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/api/host_arguments.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

// normalization.comp's, behind the addresses.
struct Arguments {
  uint32_t rows, columns;
  float epsilon;
  uint32_t groups, group_step, inner;
  uint32_t scale_step, bias_step;
};

void Add(const NodeSite& site, const Arguments& arguments, bool subtracts_mean,
         const Operand& skip, Plan& plan) {
  const auto& params = std::get<NormalizationParams>(site.params);
  const bool is_empty = arguments.rows == 0 || arguments.columns == 0;
  plan.Add(shaders::k_normalization,
           {WidthOfRow(arguments.columns),
            static_cast<uint32_t>(site.input_dtype(0)),
            subtracts_mean ? 1u : 0u, params.has_skip ? 1u : 0u,
            static_cast<uint32_t>(params.statistics_dtype)},
           GroupsFor(is_empty ? 0 : arguments.rows, 1),
           {plan.In(0), skip, plan.In(1), plan.In(2), plan.Out(0), plan.Out(1),
            plan.Out(2)},
           arguments);
}

// Whether an operand has one element, or one a column; else nothing.
absl::Status CheckByColumn(const NodeSite& site, int input, int64_t columns,
                           int axis, uint32_t& step) {
  if (!site.has_input(input)) return absl::OkStatus();
  const Shape& own = site.input(input).shape;
  const Shape& x = site.input(0).shape;
  step = own.element_count() == 1 ? 0 : 1;
  // Dimensions of 1 in the middle would repeat within a row.
  bool is_by_column = own.element_count() == columns;
  for (int d = x.rank() - 1; d >= axis && is_by_column; --d) {
    const int from = d - (x.rank() - own.rank());
    is_by_column = (from < 0 ? 1 : own[from]) == x[d];
  }
  if (is_by_column || own.element_count() == 1) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("input ", input, " of shape ", own.ToString(),
                   " is neither a number nor one a column"));
}

absl::Status PlanRows(const NodeSite& site, Plan& plan) {
  const auto& params = std::get<NormalizationParams>(site.params);
  const Shape& x = site.input(0).shape;
  const int axis = Normalised(params.axis, x.rank());
  const int64_t columns = x.ElementCount(axis, x.rank());
  Arguments arguments = {static_cast<uint32_t>(x.ElementCount(0, axis)),
                         static_cast<uint32_t>(columns),
                         params.epsilon,
                         /*groups=*/1,
                         /*group_step=*/0,
                         /*inner=*/1,
                         0,
                         0};
  absl::Status status =
      CheckByColumn(site, 1, columns, axis, arguments.scale_step);
  const bool is_layer = site.op == OpKind::kLayerNormalization;
  if (status.ok() && is_layer) {
    status = CheckByColumn(site, 2, columns, axis, arguments.bias_step);
  }
  if (!status.ok()) return status;
  Add(site, arguments, is_layer, params.has_skip ? plan.In(3) : Operand(),
      plan);
  return absl::OkStatus();
}

absl::Status PlanGroups(const NodeSite& site, Plan& plan) {
  const auto& params = std::get<NormalizationParams>(site.params);
  const Shape& x = site.input(0).shape;
  const int64_t groups =
      site.op == OpKind::kInstanceNormalization ? x[1] : params.group_count;
  const int64_t inner = x.ElementCount(2, x.rank());
  const int64_t channels = groups == 0 ? 0 : x[1] / groups;
  const int64_t columns = channels * inner;
  const Arguments arguments = {
      static_cast<uint32_t>(x[0] * groups),
      static_cast<uint32_t>(columns),
      params.epsilon,
      static_cast<uint32_t>(groups),
      static_cast<uint32_t>(params.scales_groups ? 1 : channels),
      static_cast<uint32_t>(params.scales_groups ? columns : inner),
      1,
      1};
  Add(site, arguments, /*subtracts_mean=*/true, {}, plan);
  return absl::OkStatus();
}

KernelCost NormalizationCost(const NodeSite& site) {
  return CostByElements(site, 10);
}

RowList Rows() {
  RowTraits traits = {.source = "backends/vulkan/kernels/normalization.cc",
                      .cost = &NormalizationCost,
                      .caps = {.in_place_inputs = 0b1}};
  RowList rows;
  rows.AddAll<&PlanRows>(OpKind::kRMSNormalization, "rms_normalization",
                         kFloats, traits);
  rows.AddAll<&PlanGroups>(OpKind::kGroupNormalization, "group_normalization",
                           kFloats, traits);
  rows.AddAll<&PlanGroups>(OpKind::kInstanceNormalization,
                           "instance_normalization", kFloats, traits);
  traits.caps = {.in_place_inputs = 0b1001, .takes_skip = true};
  for (const DType dtype : kFloats) {
    for (const DType statistics : {DType::kFloat32, DType::kBFloat16}) {
      rows.Add<&PlanRows>(
          OpKind::kLayerNormalization,
          RowList::NameOf(RowList::NameOf("layer_normalization", dtype),
                          statistics),
          Takes({dtype}, {dtype, statistics}), traits);
    }
  }
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> NormalizationRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
