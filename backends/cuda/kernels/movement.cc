// Operators that move elements and are nested loops as a whole: Transpose,
// Slice, Concat, Split, Tile, Expand, DepthToSpace, SpaceToDepth.
//
// Outputs are contiguous and other buffers than the inputs; all but Concat and
// Split take any input strides. Elements are copied as
// bytes by strided_copy.h. Slice's arguments and Split's parts must be known
// before the run.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/axis_view.h"
#include "backends/api/host_arguments.h"
#include "backends/api/kernel.h"
#include "backends/api/movement_plan.h"
#include "backends/api/slice_range.h"
#include "backends/cuda/kernels/operand_address.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"
#include "backends/cuda/kernels/strided_copy.h"

namespace tensord::cuda {
namespace {

// A copy from input 0 to output 0 whose loops are to be added.
StridedCopy CopyOf(const KernelCall& call, int bytes) {
  return {SourceOf(call, 0, bytes), DestinationOf(call, 0, bytes), bytes, {}};
}

template <int kBytes>
absl::Status RunTranspose(const KernelCall& call) {
  const Dims& permutation = std::get<TransposeParams>(call.params).permutation;
  const Layout& x = call.input_layout(0);
  const Layout& y = call.output_layout(0);
  const int rank = x.shape.rank();
  StridedCopy copy = CopyOf(call, kBytes);
  for (int d = 0; d < rank; ++d) {
    const int64_t from = permutation.empty() ? rank - 1 - d : permutation[d];
    copy.loops.push_back({y.shape[d], x.strides[from], y.strides[d]});
  }
  return Enqueue(call.context, std::move(copy));
}

class Ranges final : public KernelState {
 public:
  std::array<SliceRange, kMaxRank> by_dimension;
};

absl::Status AcceptsSlice(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  if (absl::Status s = CheckKnown(site, {1, 2, 3, 4}); !s.ok()) return s;
  return FindSliceRanges(site).status();
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareSlice(const NodeSite& site,
                                                          Device&) {
  const auto found = FindSliceRanges(site);
  if (!found.ok()) return found.status();
  auto ranges = std::make_unique<Ranges>();
  ranges->by_dimension = *found;
  return ranges;
}

template <int kBytes>
absl::Status RunSlice(const KernelCall& call) {
  const auto& ranges = static_cast<const Ranges*>(call.state)->by_dimension;
  const Layout& x = call.input_layout(0);
  const Layout& y = call.output_layout(0);
  StridedCopy copy = CopyOf(call, kBytes);
  for (int d = 0; d < x.shape.rank(); ++d) {
    copy.source += ranges[d].start * x.strides[d] * kBytes;
    copy.loops.push_back(
        {ranges[d].count, ranges[d].step * x.strides[d], y.strides[d]});
  }
  return Enqueue(call.context, std::move(copy));
}

template <int kBytes>
absl::Status RunConcat(const KernelCall& call) {
  const int64_t axis = std::get<AxisParams>(call.params).axis;
  const AxisView y(call.output_layout(0).shape, axis);
  const int64_t y_row = y.extent * y.inner;
  std::byte* destination = DestinationOf(call, 0, kBytes);
  std::vector<RowCopy> copies;
  copies.reserve(call.inputs.size());
  for (int k = 0; k < static_cast<int>(call.inputs.size()); ++k) {
    const AxisView x(call.input_layout(k).shape, axis);
    const int64_t row = x.extent * x.inner;
    copies.push_back(
        {SourceOf(call, k, kBytes), destination, y.outer, row, row, y_row});
    destination += row * kBytes;
  }
  return Enqueue(call.context, copies, kBytes);
}

// The parts' extents along the axis.
class Parts final : public KernelState {
 public:
  Dims extents;
};

absl::Status AcceptsSplit(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  if (absl::Status s = CheckKnown(site, {1}); !s.ok()) return s;
  return FindSplitParts(site).status();
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareSplit(const NodeSite& site,
                                                          Device&) {
  absl::StatusOr<Dims> extents = FindSplitParts(site);
  if (!extents.ok()) return extents.status();
  auto parts = std::make_unique<Parts>();
  parts->extents = *std::move(extents);
  return parts;
}

template <int kBytes>
absl::Status RunSplit(const KernelCall& call) {
  const AxisView x(call.input_layout(0).shape,
                   std::get<SplitParams>(call.params).axis);
  const Dims& extents = static_cast<const Parts*>(call.state)->extents;
  const std::byte* source = SourceOf(call, 0, kBytes);
  std::vector<RowCopy> copies;
  copies.reserve(call.outputs.size());
  for (int k = 0; k < static_cast<int>(call.outputs.size()); ++k) {
    const int64_t row = extents[k] * x.inner;
    if (call.outputs[k].is_present()) {
      copies.push_back({source, DestinationOf(call, k, kBytes), x.outer, row,
                        x.extent * x.inner, row});
    }
    source += row * kBytes;
  }
  return Enqueue(call.context, copies, kBytes);
}

template <int kBytes>
absl::Status RunTile(const KernelCall& call) {
  const Layout& x = call.input_layout(0);
  const Layout& y = call.output_layout(0);
  if (y.shape.element_count() == 0) return absl::OkStatus();
  StridedCopy copy = CopyOf(call, kBytes);
  for (int d = 0; d < x.shape.rank(); ++d) {
    copy.loops.push_back(
        {y.shape[d] / x.shape[d], 0, x.shape[d] * y.strides[d]});
    copy.loops.push_back({x.shape[d], x.strides[d], y.strides[d]});
  }
  return Enqueue(call.context, std::move(copy));
}

// y's shape says all, so input 1 is not read.
template <int kBytes>
absl::Status RunExpand(const KernelCall& call) {
  const Layout& x = call.input_layout(0);
  const Layout& y = call.output_layout(0);
  const int missing = y.shape.rank() - x.shape.rank();
  StridedCopy copy = CopyOf(call, kBytes);
  for (int d = 0; d < y.shape.rank(); ++d) {
    const int own = d - missing;
    const bool repeats = own < 0 || x.shape[own] == 1;
    copy.loops.push_back(
        {y.shape[d], repeats ? 0 : x.strides[own], y.strides[d]});
  }
  return Enqueue(call.context, std::move(copy));
}

// DepthToSpace and SpaceToDepth, for blocks of s by s pixels:
//   deep [n, (r, c, d) or (d, r, c), h, w] and wide [n, d, (h, r), (w, c)]
// where (h, r) stands for h * s + r and so on. Of the two orders of the depth
// the first is DCR, the only one that SpaceToDepth has, and the second CRD.
void AddBlockLoops(const Layout& deep, const Layout& wide,
                   const BlockParams& params, bool from_deep,
                   StridedCopy& copy) {
  const int64_t s = params.block_size;
  const int64_t depth = wide.shape[1];
  const int64_t channel = deep.strides[1];
  const int64_t deep_d = params.depth_is_last ? channel : s * s * channel;
  const int64_t deep_c = params.depth_is_last ? depth * channel : channel;
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
}

template <int kBytes>
absl::Status RunDepthToSpace(const KernelCall& call) {
  StridedCopy copy = CopyOf(call, kBytes);
  AddBlockLoops(call.input_layout(0), call.output_layout(0),
                std::get<BlockParams>(call.params), /*from_deep=*/true, copy);
  return Enqueue(call.context, std::move(copy));
}

template <int kBytes>
absl::Status RunSpaceToDepth(const KernelCall& call) {
  StridedCopy copy = CopyOf(call, kBytes);
  AddBlockLoops(call.output_layout(0), call.input_layout(0),
                std::get<BlockParams>(call.params), /*from_deep=*/false, copy);
  return Enqueue(call.context, std::move(copy));
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

#define MOVE(dtype, bytes, suffix, op, name, ...)                          \
  TENSORD_CUDA_ROW(op, name "_" suffix,                                    \
                   (Takes({DType::dtype, DType::kInt64}, {DType::dtype})), \
                   "movement.cc", .cost = &MovementCost,                   \
                   .run = &Run##op<bytes>, __VA_ARGS__)
#define MOVE_ANY_STRIDES(dtype, bytes, suffix, op, name) \
  MOVE(dtype, bytes, suffix, op, name, .caps = {.strided_input = true})
#define CONCAT(dtype, bytes, suffix, ...)                                      \
  TENSORD_CUDA_ROW(Concat, "concat_" suffix, All(DType::dtype), "movement.cc", \
                   .cost = &MovementCost, .run = &RunConcat<bytes>)
#define SPLIT(dtype, bytes, suffix, ...)                                   \
  TENSORD_CUDA_ROW(Split, "split_" suffix,                                 \
                   (Takes({DType::dtype, DType::kInt64}, {DType::dtype})), \
                   "movement.cc", .accepts = &AcceptsSplit,                \
                   .prepare = &PrepareSplit, .cost = &MovementCost,        \
                   .run = &RunSplit<bytes>)
#define SLICE(dtype, bytes, suffix, index, index_suffix)                  \
  TENSORD_CUDA_ROW(Slice, "slice_" suffix "_" index_suffix,               \
                   (Takes({DType::dtype, DType::index}, {DType::dtype})), \
                   "movement.cc", .accepts = &AcceptsSlice,               \
                   .prepare = &PrepareSlice, .cost = &MovementCost,       \
                   .run = &RunSlice<bytes>, .caps = {.strided_input = true})

constexpr KernelEntry kRows[] = {
    TENSORD_CUDA_BYTES(MOVE_ANY_STRIDES, Transpose, "transpose"),
    TENSORD_CUDA_BYTES(SLICE, kInt32, "i32"),
    TENSORD_CUDA_BYTES(SLICE, kInt64, "i64"),
    TENSORD_CUDA_BYTES(CONCAT),
    TENSORD_CUDA_BYTES(SPLIT),
    TENSORD_CUDA_BYTES(MOVE_ANY_STRIDES, Tile, "tile"),
    TENSORD_CUDA_BYTES(MOVE_ANY_STRIDES, Expand, "expand"),
    TENSORD_CUDA_BYTES(MOVE_ANY_STRIDES, DepthToSpace, "depth_to_space"),
    TENSORD_CUDA_BYTES(MOVE_ANY_STRIDES, SpaceToDepth, "space_to_depth"),
};

}  // namespace

absl::Span<const KernelEntry> MovementRows() { return kRows; }

}  // namespace tensord::cuda
