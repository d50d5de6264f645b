// Where and Clip: each output is one of the operands' elements.
//
//   Where  y[i] = c[i] ? a[i] : b[i], all broadcast to y's shape
//   Clip   y[i] = min(max(x[i], low), high); where low is above high, high wins
//
// Everything is contiguous; y may be the buffer of an operand of its own size
// and dtype. Clip's bounds stay on the device; those that are attributes, of
// float32, are inputs 3 and 4.

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/vulkan/kernels/broadcast.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

constexpr int kMostDimensions = 5;  // select.comp's

// select.comp's, behind the addresses.
struct Arguments {
  uint32_t count;
  uint32_t rank;
  struct {
    uint32_t extent;
    uint32_t strides[3];
  } dimensions[kMostDimensions];
};

absl::Status PlanWhere(const NodeSite& site, Plan& plan) {
  const Shape& y = site.output(0).shape;
  const Layout* const layouts[] = {&site.input(0), &site.input(1),
                                   &site.input(2)};
  const BroadcastWalk walk = MakeBroadcastWalk(layouts, y);
  if (walk.dimensions.size() > kMostDimensions) {
    return absl::UnimplementedError(
        absl::StrCat("operands broadcast in ", walk.dimensions.size(),
                     " runs of dimensions, above ", kMostDimensions));
  }
  Arguments arguments = {static_cast<uint32_t>(y.element_count()),
                         static_cast<uint32_t>(walk.dimensions.size()),
                         {}};
  for (size_t d = 0; d < walk.dimensions.size(); ++d) {
    const auto& from = walk.dimensions[d];
    arguments.dimensions[d].extent = static_cast<uint32_t>(from.extent);
    for (int k = 0; k < 3; ++k) {
      arguments.dimensions[d].strides[k] =
          static_cast<uint32_t>(from.strides[k]);
    }
  }
  const DType dtype = site.output_dtype(0);
  plan.Add(shaders::k_select,
           {256, static_cast<uint32_t>(DType::kUInt8), 0, 0, 0,
            static_cast<uint32_t>(BytesOf(dtype))},
           GroupsFor(y.element_count()),
           {plan.In(0), plan.In(1), plan.In(2), plan.Out(0)}, arguments);
  return absl::OkStatus();
}

absl::Status PlanClip(const NodeSite& site, Plan& plan) {
  const auto bound = [&site](int i) {
    return site.has_input(i) || !site.has_input(i + 2) ? i : i + 2;
  };
  const int low = bound(1);
  const int high = bound(2);
  const auto dtype_of = [&site](int i) {
    return static_cast<uint32_t>(site.has_input(i) ? site.input_dtype(i)
                                                   : DType::kFloat32);
  };
  const int64_t count = site.output(0).shape.element_count();
  const Arguments arguments = {static_cast<uint32_t>(count), 0, {}};
  plan.Add(shaders::k_select,
           {256, static_cast<uint32_t>(site.input_dtype(0)), 1, dtype_of(low),
            dtype_of(high), 4},
           GroupsFor(count),
           {plan.In(low), plan.In(0), plan.In(high), plan.Out(0)}, arguments);
  return absl::OkStatus();
}

RowList Rows() {
  const char* const source = "backends/vulkan/kernels/select.cc";
  RowList rows;
  for (const DType dtype : kBytes) {
    rows.Add<&PlanWhere>(
        OpKind::kWhere, RowList::NameOf("where", dtype),
        Takes({DType::kBool, dtype, dtype}, {dtype}),
        {.source = source, .caps = {.in_place_inputs = 0b110}});
  }
  for (const auto dtypes :
       {absl::MakeConstSpan(kFloats), absl::MakeConstSpan(kSignedIntegers),
        absl::MakeConstSpan(kUnsignedIntegers)}) {
    for (const DType dtype : dtypes) {
      rows.Add<&PlanClip>(
          OpKind::kClip, RowList::NameOf("clip", dtype),
          Takes({dtype, dtype, dtype, DType::kFloat32}, {dtype}),
          {.source = source, .caps = {.in_place_inputs = 0b1}});
    }
  }
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> SelectRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
