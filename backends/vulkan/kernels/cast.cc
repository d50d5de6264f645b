// Cast and CastLike among float32, the 16-bit floats, integers and bool.
//
// Everything is contiguous, y another buffer than x. CastLike's second input is
// not read.

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

bool IsCast(DType dtype) {
  return dtype != DType::kFloat64 &&
         std::find(std::begin(kBytes), std::end(kBytes), dtype) !=
             std::end(kBytes);
}

absl::Status PlanCast(const NodeSite& site, Plan& plan) {
  const DType from = site.input_dtype(0);
  const DType to = site.output_dtype(0);
  if (!IsCast(to)) {
    return absl::UnimplementedError(
        absl::StrCat("there is no cast to ", DTypeName(to)));
  }
  const int64_t count = site.output(0).shape.element_count();
  plan.Add(shaders::k_cast,
           {256, static_cast<uint32_t>(from), static_cast<uint32_t>(to)},
           GroupsFor(count), {plan.In(0), plan.Out(0)},
           static_cast<uint32_t>(count));
  return absl::OkStatus();
}

RowList Rows() {
  const RowTraits traits = {.source = "backends/vulkan/kernels/cast.cc"};
  RowList rows;
  for (const DType dtype : kBytes) {
    if (!IsCast(dtype)) continue;
    const DTypeSignature dtypes =
        Takes({dtype, DType::kUndefined}, {DType::kUndefined});
    rows.Add<&PlanCast>(OpKind::kCast, RowList::NameOf("cast", dtype), dtypes,
                        traits);
    rows.Add<&PlanCast>(OpKind::kCastLike, RowList::NameOf("cast_like", dtype),
                        dtypes, traits);
  }
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> CastRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
