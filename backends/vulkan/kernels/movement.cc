// Operators that move elements and are nested loops as a whole: Transpose,
// Slice, Concat, Split, Tile, Expand, DepthToSpace, SpaceToDepth.
//
// Outputs are contiguous and other buffers than the inputs; all but Concat and
// Split take any input strides. Elements are copied as bytes (strided_copy.h).
// Slice's arguments and Split's parts must be known before the run.

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/api/axis_view.h"
#include "backends/api/host_arguments.h"
#include "backends/api/movement_plan.h"
#include "backends/api/slice_range.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "backends/vulkan/kernels/strided_copy.h"

namespace tensord::vulkan {
namespace {

// A copy from input 0 to output 0 whose loops are to be added.
StridedCopy CopyOf(const NodeSite& site, Plan& plan) {
  return {plan.In(0), plan.Out(0), BytesOf(site.output_dtype(0)), {}};
}

absl::Status PlanTranspose(const NodeSite& site, Plan& plan) {
  const Dims& permutation = std::get<TransposeParams>(site.params).permutation;
  const Layout& x = site.input(0);
  const Layout& y = site.output(0);
  const int rank = x.shape.rank();
  StridedCopy copy = CopyOf(site, plan);
  for (int d = 0; d < rank; ++d) {
    const int64_t from = permutation.empty() ? rank - 1 - d : permutation[d];
    copy.loops.push_back({y.shape[d], x.strides[from], y.strides[d]});
  }
  return AddCopy(std::move(copy), plan);
}

absl::Status PlanSlice(const NodeSite& site, Plan& plan) {
  if (absl::Status s = CheckKnown(site, {1, 2, 3, 4}); !s.ok()) return s;
  const auto ranges = FindSliceRanges(site);
  if (!ranges.ok()) return ranges.status();
  const Layout& x = site.input(0);
  const Layout& y = site.output(0);
  StridedCopy copy = CopyOf(site, plan);
  for (int d = 0; d < x.shape.rank(); ++d) {
    const SliceRange& range = (*ranges)[d];
    copy.source.offset_bytes += range.start * x.strides[d] * copy.element_bytes;
    copy.loops.push_back(
        {range.count, range.step * x.strides[d], y.strides[d]});
  }
  return AddCopy(std::move(copy), plan);
}

absl::Status PlanConcat(const NodeSite& site, Plan& plan) {
  const int64_t axis = std::get<AxisParams>(site.params).axis;
  const AxisView y(site.output(0).shape, axis);
  StridedCopy copy = CopyOf(site, plan);
  for (int k = 0; k < site.input_count; ++k) {
    const AxisView x(site.input(k).shape, axis);
    const int64_t row = x.extent * x.inner;
    copy.source = plan.In(k);
    copy.loops = {{y.outer, row, y.extent * y.inner}, {row, 1, 1}};
    if (absl::Status s = AddCopy(copy, plan); !s.ok()) return s;
    copy.destination.offset_bytes += row * copy.element_bytes;
  }
  plan.LaunchesAreIndependent();
  return absl::OkStatus();
}

absl::Status PlanSplit(const NodeSite& site, Plan& plan) {
  if (absl::Status s = CheckKnown(site, {1}); !s.ok()) return s;
  const AxisView x(site.input(0).shape,
                   std::get<SplitParams>(site.params).axis);
  const absl::StatusOr<Dims> extents = FindSplitParts(site);
  if (!extents.ok()) return extents.status();
  StridedCopy copy = {plan.In(0), {}, BytesOf(site.input_dtype(0)), {}};
  for (size_t k = 0; k < extents->size(); ++k) {
    const int64_t row = (*extents)[k] * x.inner;
    copy.destination = plan.Out(static_cast<int>(k));
    copy.loops = {{x.outer, x.extent * x.inner, row}, {row, 1, 1}};
    if (copy.destination.kind != Operand::Kind::kAbsent) {
      if (absl::Status s = AddCopy(copy, plan); !s.ok()) return s;
    }
    copy.source.offset_bytes += row * copy.element_bytes;
  }
  plan.LaunchesAreIndependent();
  return absl::OkStatus();
}

// y's shape says all, so input 1 is not read.
absl::Status PlanTile(const NodeSite& site, Plan& plan) {
  const Layout& x = site.input(0);
  const Layout& y = site.output(0);
  if (y.shape.element_count() == 0) return absl::OkStatus();
  StridedCopy copy = CopyOf(site, plan);
  for (int d = 0; d < x.shape.rank(); ++d) {
    copy.loops.push_back(
        {y.shape[d] / x.shape[d], 0, x.shape[d] * y.strides[d]});
    copy.loops.push_back({x.shape[d], x.strides[d], y.strides[d]});
  }
  return AddCopy(std::move(copy), plan);
}

// As Tile.
absl::Status PlanExpand(const NodeSite& site, Plan& plan) {
  const Layout& x = site.input(0);
  const Layout& y = site.output(0);
  const int missing = y.shape.rank() - x.shape.rank();
  StridedCopy copy = CopyOf(site, plan);
  for (int d = 0; d < y.shape.rank(); ++d) {
    const int own = d - missing;
    const bool repeats = own < 0 || x.shape[own] == 1;
    copy.loops.push_back(
        {y.shape[d], repeats ? 0 : x.strides[own], y.strides[d]});
  }
  return AddCopy(std::move(copy), plan);
}

// DepthToSpace and SpaceToDepth, for blocks of s by s pixels:
//   deep [n, (r, c, d) or (d, r, c), h, w] and wide [n, d, (h, r), (w, c)]
// where (h, r) stands for h * s + r and so on. Of the two orders of the depth
// the first is DCR, the only one that SpaceToDepth has, and the second CRD.
absl::Status PlanBlocks(const NodeSite& site, Plan& plan) {
  const auto& params = std::get<BlockParams>(site.params);
  const bool from_deep = site.op == OpKind::kDepthToSpace;
  const Layout& deep = from_deep ? site.input(0) : site.output(0);
  const Layout& wide = from_deep ? site.output(0) : site.input(0);
  const int64_t s = params.block_size;
  const int64_t depth = wide.shape[1];
  const int64_t channel = deep.strides[1];
  const int64_t deep_d = params.depth_is_last ? channel : s * s * channel;
  const int64_t deep_c = params.depth_is_last ? depth * channel : channel;
  StridedCopy copy = CopyOf(site, plan);
  const auto add = [&](int64_t extent, int64_t in_deep, int64_t in_wide) {
    copy.loops.push_back(
        {extent, from_deep ? in_deep : in_wide, from_deep ? in_wide : in_deep});
  };
  add(deep.shape[0], deep.strides[0], wide.strides[0]);
  add(depth, deep_d, wide.strides[1]);
  add(s, s * deep_c, wide.strides[2]);
  add(s, deep_c, wide.strides[3]);
  add(deep.shape[2], deep.strides[2], s * wide.strides[2]);
  add(deep.shape[3], deep.strides[3], s * wide.strides[3]);
  return AddCopy(std::move(copy), plan);
}

// What is written is read once, whatever the inputs' own sizes.
KernelCost MovementCost(const NodeSite& site) {
  double bytes = 0;
  for (size_t i = site.input_count; i < site.dtypes.size(); ++i) {
    if (site.dtypes[i] == DType::kUndefined) continue;
    bytes += static_cast<double>(
        ByteSize(site.dtypes[i], site.layouts[i].shape.element_count()));
  }
  return {.bytes = 2 * bytes};
}

RowList Rows() {
  const RowTraits dense = {.source = "backends/vulkan/kernels/movement.cc",
                           .cost = &MovementCost};
  RowTraits any_strides = dense;
  any_strides.caps.strided_input = true;
  RowList rows;
  for (const DType dtype : kBytes) {
    const DTypeSignature with_integers = Takes({dtype, DType::kInt64}, {dtype});
    rows.Add<&PlanTranspose>(OpKind::kTranspose,
                             RowList::NameOf("transpose", dtype),
                             tensord::All(dtype), any_strides);
    rows.Add<&PlanSlice>(OpKind::kSlice, RowList::NameOf("slice_i64", dtype),
                         with_integers, any_strides);
    rows.Add<&PlanSlice>(OpKind::kSlice, RowList::NameOf("slice_i32", dtype),
                         Takes({dtype, DType::kInt32}, {dtype}), any_strides);
    rows.Add<&PlanConcat>(OpKind::kConcat, RowList::NameOf("concat", dtype),
                          tensord::All(dtype), dense);
    rows.Add<&PlanSplit>(OpKind::kSplit, RowList::NameOf("split", dtype),
                         with_integers, dense);
    rows.Add<&PlanTile>(OpKind::kTile, RowList::NameOf("tile", dtype),
                        with_integers, any_strides);
    rows.Add<&PlanExpand>(OpKind::kExpand, RowList::NameOf("expand", dtype),
                          with_integers, any_strides);
    rows.Add<&PlanBlocks>(OpKind::kDepthToSpace,
                          RowList::NameOf("depth_to_space", dtype),
                          tensord::All(dtype), any_strides);
    rows.Add<&PlanBlocks>(OpKind::kSpaceToDepth,
                          RowList::NameOf("space_to_depth", dtype),
                          tensord::All(dtype), any_strides);
  }
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> MovementRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
