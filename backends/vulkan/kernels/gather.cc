// Gather and GatherElements.
//
//   Gather          y[o, k, i] = x[o, indices[k], i]
//   GatherElements  y[i0, ..., ia, ...] = x[i0, ..., indices[i...], ...]
//
// All are contiguous; y is no input's buffer. An index below 0 counts from the
// end; one out of range gives zeros, since nobody waits to be told.

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/api/axis_view.h"
#include "backends/api/host_arguments.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

constexpr int kMostDimensions = 6;  // gather.comp's

// gather.comp's, behind the addresses.
struct Arguments {
  uint32_t count;
  uint32_t inner;
  uint32_t index_count;
  uint32_t extent;
  uint32_t rank;
  struct {
    uint32_t extent, stride;
  } dimensions[kMostDimensions];
};

void Add(const NodeSite& site, const Arguments& arguments, int bytes,
         bool is_by_element, Plan& plan) {
  plan.Add(
      shaders::k_gather,
      {256, static_cast<uint32_t>(bytes),
       static_cast<uint32_t>(site.input_dtype(1)), is_by_element ? 1u : 0u},
      GroupsFor(arguments.count), {plan.In(0), plan.In(1), plan.Out(0)},
      arguments);
}

absl::Status PlanGather(const NodeSite& site, Plan& plan) {
  const AxisView x(site.input(0).shape, std::get<AxisParams>(site.params).axis);
  const int64_t indices = site.input(1).shape.element_count();
  // Runs that are picked whole, up to 16 bytes at once.
  int bytes = BytesOf(site.input_dtype(0));
  int64_t inner = x.inner;
  const auto is_even = [&](const Operand& operand) {
    return operand.offset_bytes % (2 * bytes) == 0;
  };
  while (bytes < 16 && inner % 2 == 0 && is_even(plan.In(0)) &&
         is_even(plan.Out(0))) {
    bytes *= 2;
    inner /= 2;
  }
  Add(site,
      {static_cast<uint32_t>(x.outer * indices * inner),
       static_cast<uint32_t>(inner),
       static_cast<uint32_t>(indices),
       static_cast<uint32_t>(x.extent),
       0,
       {}},
      bytes, /*is_by_element=*/false, plan);
  return absl::OkStatus();
}

absl::Status PlanGatherElements(const NodeSite& site, Plan& plan) {
  const Layout& x = site.input(0);
  const Shape& y = site.output(0).shape;
  const int rank = x.shape.rank();
  if (rank > kMostDimensions) {
    return absl::UnimplementedError(
        absl::StrCat("rank ", rank, " is above ", kMostDimensions));
  }
  const int axis = Normalised(std::get<AxisParams>(site.params).axis, rank);
  Arguments arguments = {static_cast<uint32_t>(y.element_count()),
                         static_cast<uint32_t>(x.strides[axis]),
                         1,
                         static_cast<uint32_t>(x.shape[axis]),
                         static_cast<uint32_t>(rank),
                         {}};
  for (int d = 0; d < rank; ++d) {
    const int from = rank - 1 - d;
    arguments.dimensions[d] = {
        static_cast<uint32_t>(y[from]),
        from == axis ? 0 : static_cast<uint32_t>(x.strides[from])};
  }
  Add(site, arguments, BytesOf(site.input_dtype(0)), /*is_by_element=*/true,
      plan);
  return absl::OkStatus();
}

// What is written, and as much read, beside the indices.
KernelCost GatherCost(const NodeSite& site) {
  const double moved = static_cast<double>(
      ByteSize(site.output_dtype(0), site.output(0).shape.element_count()));
  const double indices = static_cast<double>(
      ByteSize(site.input_dtype(1), site.input(1).shape.element_count()));
  return {.bytes = 2 * moved + indices};
}

RowList Rows() {
  const RowTraits traits = {.source = "backends/vulkan/kernels/gather.cc",
                            .cost = &GatherCost};
  RowList rows;
  for (const DType dtype : kBytes) {
    for (const DType index : {DType::kInt32, DType::kInt64}) {
      const DTypeSignature dtypes = Takes({dtype, index}, {dtype});
      const auto name = [&](absl::string_view op) {
        return RowList::NameOf(RowList::NameOf(op, dtype), index);
      };
      rows.Add<&PlanGather>(OpKind::kGather, name("gather"), dtypes, traits);
      rows.Add<&PlanGatherElements>(OpKind::kGatherElements,
                                    name("gather_elements"), dtypes, traits);
    }
  }
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> GatherRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
