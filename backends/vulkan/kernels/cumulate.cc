// CumSum and CumProd along one dimension, which must be known before the run.
//
// x and y are contiguous and may be the same buffer. Floats accumulate in
// float32; integers wrap.

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/api/axis_view.h"
#include "backends/api/host_arguments.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

absl::Status PlanCumulation(const NodeSite& site, Plan& plan) {
  if (absl::Status s = CheckKnown(site, {1}); !s.ok()) return s;
  const auto& params = std::get<CumSumParams>(site.params);
  const Shape& shape = site.input(0).shape;
  const int64_t axis = HostIntegers(site, 1)[0];
  if (axis < -shape.rank() || axis >= shape.rank()) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", axis, " of rank ", shape.rank()));
  }
  const AxisView view(shape, axis);
  const int64_t lines = view.extent == 0 ? 0 : view.outer * view.inner;
  struct {
    uint32_t lines, extent, inner;
  } arguments = {static_cast<uint32_t>(lines),
                 static_cast<uint32_t>(view.extent),
                 static_cast<uint32_t>(view.inner)};
  plan.Add(shaders::k_cumulate,
           {64, static_cast<uint32_t>(site.input_dtype(0)),
            site.op == OpKind::kCumProd ? 1u : 0u,
            params.is_exclusive ? 1u : 0u, params.is_reverse ? 1u : 0u},
           GroupsFor(lines, 64), {plan.In(0), plan.Out(0)}, arguments);
  return absl::OkStatus();
}

RowList Rows() {
  RowList rows;
  const auto add = [&](DType dtype) {
    const DTypeSignature dtypes = Takes({dtype, DType::kUndefined}, {dtype});
    const RowTraits traits = {.source = "backends/vulkan/kernels/cumulate.cc",
                              .caps = {.in_place_inputs = 0b1}};
    rows.Add<&PlanCumulation>(OpKind::kCumSum, RowList::NameOf("cumsum", dtype),
                              dtypes, traits);
    rows.Add<&PlanCumulation>(
        OpKind::kCumProd, RowList::NameOf("cumprod", dtype), dtypes, traits);
  };
  for (const DType dtype : kFloats) add(dtype);
  for (const DType dtype :
       {DType::kInt32, DType::kInt64, DType::kUInt32, DType::kUInt64}) {
    add(dtype);
  }
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> CumulateRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
