// Softmax, LogSoftmax and Hardmax along one dimension.
//
//   Softmax  y[o, c, i] = exp(x[o, c, i] - m) / sum over c of
//            exp(x[o, c, i] - m), m = max over c of x[o, c, i]; LogSoftmax is
//            its logarithm
//   Hardmax  y[o, c, i] = 1 if c is the first at which x[o, c, i] is greatest,
//            else 0; a NaN is greater than any number
//
// x and y are contiguous, and may be the same buffer but for Hardmax. Computes
// in float32; 16-bit floats are rounded once.

#include <cstdint>

#include "backends/api/axis_view.h"
#include "backends/api/host_arguments.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

absl::Status PlanSoftmax(const NodeSite& site, Plan& plan) {
  const auto& params = std::get<SoftmaxParams>(site.params);
  const Shape& shape = site.input(0).shape;
  AxisView view(Shape({1}), 0);
  if (shape.rank() > 0) {
    view = AxisView(shape, params.axis);
    if (params.flattens_at_axis) {
      view.extent *= view.inner;
      view.inner = 1;
    }
  }
  struct {
    uint32_t rows, columns, inner;
  } arguments = {static_cast<uint32_t>(view.outer * view.inner),
                 static_cast<uint32_t>(view.extent),
                 static_cast<uint32_t>(view.inner)};
  const uint32_t kind = site.op == OpKind::kSoftmax      ? 0
                        : site.op == OpKind::kLogSoftmax ? 1
                                                         : 2;
  const uint32_t width = WidthOfRow(view.extent);
  const int64_t rows = view.extent == 0 ? 0 : view.outer * view.inner;
  plan.Add(shaders::k_softmax,
           {width, static_cast<uint32_t>(site.input_dtype(0)), kind},
           GroupsFor(rows, 1), {plan.In(0), plan.Out(0)}, arguments);
  return absl::OkStatus();
}

KernelCost SoftmaxCost(const NodeSite& site) {
  return CostByElements(site, 40);
}

RowList Rows() {
  RowTraits traits = {.source = "backends/vulkan/kernels/softmax.cc",
                      .cost = &SoftmaxCost};
  RowList rows;
  rows.AddAll<&PlanSoftmax>(OpKind::kHardmax, "hardmax", kFloats, traits);
  traits.caps.in_place_inputs = 0b1;
  rows.AddAll<&PlanSoftmax>(OpKind::kSoftmax, "softmax", kFloats, traits);
  rows.AddAll<&PlanSoftmax>(OpKind::kLogSoftmax, "log_softmax", kFloats,
                            traits);
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> SoftmaxRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
