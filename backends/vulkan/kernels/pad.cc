// Pad: y is x with elements ahead of and behind it along each dimension, or
// with some left out.
//
// x and y are contiguous and different buffers. The pads and the axes must be
// known before the run; the constant, one element of x's dtype, need not be.
// With EDGE, REFLECT and WRAP each dimension of x has an element.

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/api/host_arguments.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

constexpr int kMostDimensions = 8;  // pad.comp's

// pad.comp's table.
struct PadTable {
  uint32_t rank;
  struct {
    uint32_t extent;
    int32_t own;
    int32_t begin;
    uint32_t stride;
  } dimensions[kMostDimensions];
};

absl::Status PlanPad(const NodeSite& site, Plan& plan) {
  if (absl::Status s = CheckKnown(site, {1, 3}); !s.ok()) return s;
  const Shape& x = site.input(0).shape;
  const Shape& y = site.output(0).shape;
  const int rank = x.rank();
  if (rank > kMostDimensions) {
    return absl::UnimplementedError(
        absl::StrCat("rank ", rank, " is above ", kMostDimensions));
  }
  const PadMode mode = std::get<PadParams>(site.params).mode;
  if (mode != PadMode::kConstant && x.element_count() == 0) {
    return absl::UnimplementedError("there is no element to repeat");
  }
  const Dims pads = IsGiven(site, 1) ? HostIntegers(site, 1) : Dims();
  Dims axes = IsGiven(site, 3) ? HostIntegers(site, 3) : Dims();
  if (axes.empty()) {
    for (int d = 0; d < rank && !pads.empty(); ++d) axes.push_back(d);
  }
  if (pads.size() != 2 * axes.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(pads.size(), " pads for ", axes.size(), " axes"));
  }
  PadTable table = {};
  table.rank = static_cast<uint32_t>(rank);
  for (int d = 0; d < rank; ++d) {
    const int from = rank - 1 - d;
    table.dimensions[d] = {static_cast<uint32_t>(y[from]),
                           static_cast<int32_t>(x[from]), 0,
                           static_cast<uint32_t>(site.input(0).strides[from])};
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < -rank || axes[i] >= rank) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axes[i], " of rank ", rank));
    }
    table.dimensions[rank - 1 - Normalised(axes[i], rank)].begin =
        static_cast<int32_t>(pads[i]);
  }
  const Operand value = mode == PadMode::kConstant ? plan.In(2) : Operand();
  plan.Add(shaders::k_pad,
           {256, static_cast<uint32_t>(BytesOf(site.input_dtype(0))),
            static_cast<uint32_t>(mode)},
           GroupsFor(y.element_count()),
           {plan.In(0), value, plan.Out(0), plan.Table(table)},
           static_cast<uint32_t>(y.element_count()));
  return absl::OkStatus();
}

KernelCost PadCost(const NodeSite& site) {
  return {.bytes = 2.0 * static_cast<double>(
                             ByteSize(site.output_dtype(0),
                                      site.output(0).shape.element_count()))};
}

RowList Rows() {
  RowList rows;
  for (const DType dtype : kBytes) {
    for (const DType axes : {DType::kInt32, DType::kInt64}) {
      rows.Add<&PlanPad>(
          OpKind::kPad, RowList::NameOf(RowList::NameOf("pad", dtype), axes),
          Takes({dtype, DType::kInt64, dtype, axes}, {dtype}),
          {.source = "backends/vulkan/kernels/pad.cc", .cost = &PadCost});
    }
  }
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> PadRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
