// QuantizeLinear and DequantizeLinear, of integers of 8 and 16 bits.
//
//   QuantizeLinear    y[i] = saturate(round(x[i] / scale) + zero point)
//   DequantizeLinear  y[i] = (x[i] - zero point) * scale
//
// x and y are contiguous, have the same shape, and are different buffers. There
// is one scale, or one for each index of an axis, or for each block of
// neighbours along it; the zero point is optional and has the scale's shape.
// Quotients are float32's, rounded to the type that the standard divides in and
// then to the nearest integer, of two the even one. A NaN becomes the zero
// point.

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/api/axis_view.h"
#include "backends/api/host_arguments.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

bool IsQuantized(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kUInt8 ||
         dtype == DType::kInt16 || dtype == DType::kUInt16;
}

absl::Status Declines(DType dtype, absl::string_view as) {
  return absl::UnimplementedError(
      absl::StrCat(DTypeName(dtype), " is not taken as ", as));
}

// quantize.comp's, behind the addresses.
struct Arguments {
  uint32_t count;
  uint32_t extent, inner;
  uint32_t block, blocks;
  uint32_t has_rows;
};

absl::Status PlanQuantize(const NodeSite& site, Plan& plan) {
  const auto& params = std::get<QuantizeParams>(site.params);
  const bool quantizes = site.op == OpKind::kQuantizeLinear;
  const DType x = site.input_dtype(0);
  const DType y = site.output_dtype(0);
  const bool takes_x = quantizes ? IsFloat(x) || x == DType::kInt32
                                 : IsQuantized(x) || x == DType::kInt32;
  if (!takes_x) return Declines(x, "input");
  if (!IsFloat(site.input_dtype(1))) {
    return Declines(site.input_dtype(1), "scale");
  }
  if (!(quantizes ? IsQuantized(y) : IsFloat(y))) return Declines(y, "output");

  const Shape& shape = site.input(0).shape;
  const Shape& scale = site.input(1).shape;
  const int64_t count = shape.element_count();
  Arguments arguments = {static_cast<uint32_t>(count), 1, 1, 1, 0, 0};
  if (scale.element_count() != 1) {
    const AxisView view(shape, params.axis);
    const bool has_rows = params.block_size != 0;
    arguments.extent = static_cast<uint32_t>(view.extent);
    arguments.inner = static_cast<uint32_t>(view.inner);
    arguments.has_rows = has_rows ? 1 : 0;
    arguments.block =
        static_cast<uint32_t>(std::max<int64_t>(params.block_size, 1));
    arguments.blocks = static_cast<uint32_t>(
        has_rows ? scale[Normalised(params.axis, shape.rank())] : view.extent);
  }
  const DType quotient = params.precision == DType::kUndefined
                             ? site.input_dtype(1)
                             : params.precision;
  plan.Add(
      shaders::k_quantize,
      {256, static_cast<uint32_t>(x),
       static_cast<uint32_t>(site.input_dtype(1)), static_cast<uint32_t>(y),
       quantizes ? 1u : 0u, static_cast<uint32_t>(quotient)},
      GroupsFor(count), {plan.In(0), plan.In(1), plan.In(2), plan.Out(0)},
      arguments);
  return absl::OkStatus();
}

RowList Rows() {
  const RowTraits traits = {.source = "backends/vulkan/kernels/quantize.cc"};
  RowList rows;
  rows.Add<&PlanQuantize>(OpKind::kQuantizeLinear, "quantize_linear_any",
                          AnyDTypes(), traits);
  rows.Add<&PlanQuantize>(OpKind::kDequantizeLinear, "dequantize_linear_any",
                          AnyDTypes(), traits);
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> QuantizeRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
