// Gather, GatherElements, GatherND.
//
//   Gather          y[o, k, i] = x[o, indices[k], i]
//   GatherElements  y[i0, ..., ia, ...] = x[i0, ..., indices[i...], ...]
//   GatherND        y[b, t, ...] = x[b, indices[b, t, 0], ..., ...]
//
// All are contiguous; y is no input's buffer. An index below 0 counts from the
// end; one out of range gives zeros. Elements are copied as bytes, those of a
// run that is picked whole up to 16 bytes at once.

#include <algorithm>
#include <cstdint>

#include "backends/api/axis_view.h"
#include "backends/api/host_arguments.h"
#include "backends/api/kernel.h"
#include "backends/cuda/kernels/divisor.h"
#include "backends/cuda/kernels/element.h"
#include "backends/cuda/kernels/indices.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/operand_address.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

// x [outer, extent, inner], y [outer, indices, inner], in elements of a run.
template <typename Index>
struct GatherView {
  Divisor<Index> inner;
  Divisor<Index> indices;
  Index extent;
  Index count;  // of y
};

template <typename Element, typename Index>
__global__ void GatherRuns(GatherView<Index> view, const Element* x,
                           Indices indices, Element* y) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index at = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
       at < view.count; at += step) {
    Index column = at;
    Index k = DivideBy(view.inner, column);
    const Index outer = DivideBy(view.indices, k);
    const int64_t from = Resolved(indices.At(k), view.extent);
    y[at] = from < 0 ? Element{}
                     : x[(outer * view.extent + static_cast<Index>(from)) *
                             view.inner.value() +
                         column];
  }
}

struct ElementsView {
  int rank = 0;
  int64_t extents[kMaxRank];
  int64_t strides[kMaxRank];  // of x; 0 along the axis
  int64_t axis_stride;
  int64_t axis_extent;
  int64_t count;
};

template <typename Element>
__global__ void GatherSingly(ElementsView view, const Element* x,
                             Indices indices, Element* y) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t at = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
       at < view.count; at += step) {
    int64_t rest = at;
    int64_t offset = 0;
    for (int d = view.rank - 1; d >= 0; --d) {
      offset += rest % view.extents[d] * view.strides[d];
      rest /= view.extents[d];
    }
    const int64_t from = Resolved(indices.At(at), view.axis_extent);
    y[at] = from < 0 ? Element{} : x[offset + from * view.axis_stride];
  }
}

// x [batch, slices of `slice` elements], y [tuples, slice].
template <typename Element>
__global__ void GatherTuples(TupleIndex index, int64_t slice, const Element* x,
                             const int64_t* tuples, int64_t tuples_of_a_batch,
                             int64_t slices_of_a_batch, Element* y,
                             int64_t count) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t at = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; at < count;
       at += step) {
    const int64_t tuple = at / slice;
    const int64_t number = index.SliceOf(tuples + tuple * index.length);
    y[at] = number < 0
                ? Element{}
                : x[(tuple / tuples_of_a_batch * slices_of_a_batch + number) *
                        slice +
                    at % slice];
  }
}

template <typename Element, typename Index>
absl::Status EnqueueGather(const KernelCall& call, const AxisView& x,
                           int64_t inner, Indices indices, int64_t count,
                           const std::byte* source, std::byte* destination) {
  const GatherView<Index> view = {
      .inner = Divisor<Index>(inner),
      .indices = Divisor<Index>(count),
      .extent = static_cast<Index>(x.extent),
      .count = static_cast<Index>(x.outer * count * inner)};
  return Launch(call.context, GatherRuns<Element, Index>,
                ForElements(x.outer * count * inner), view,
                reinterpret_cast<const Element*>(source), indices,
                reinterpret_cast<Element*>(destination));
}

template <int kBytes, typename IndexType>
absl::Status RunGather(const KernelCall& call) {
  const Shape& x_shape = call.input_layout(0).shape;
  const AxisView x(x_shape, std::get<AxisParams>(call.params).axis);
  const int64_t count = call.input_layout(1).shape.element_count();
  if (x.outer * count * x.inner == 0) return absl::OkStatus();
  const std::byte* source = SourceOf(call, 0, kBytes);
  std::byte* destination = DestinationOf(call, 0, kBytes);
  const int width =
      WidestElement(kBytes, x.inner * kBytes, {source, destination});
  const int64_t inner = x.inner * kBytes / width;
  const Indices indices = IndicesOf<IndexType>(call, 1);
  const bool is_narrow = std::max(x_shape.element_count(),
                                  x.outer * count * x.inner) < kMostNarrow;
  return VisitElementBytes(width, [&](auto bytes) {
    using Element = ElementOf<decltype(bytes)::value>;
    return is_narrow ? EnqueueGather<Element, uint32_t>(
                           call, x, inner, indices, count, source, destination)
                     : EnqueueGather<Element, uint64_t>(
                           call, x, inner, indices, count, source, destination);
  });
}

template <int kBytes, typename IndexType>
absl::Status RunGatherElements(const KernelCall& call) {
  using Element = ElementOf<kBytes>;
  const Layout& x = call.input_layout(0);
  const Shape& y = call.output_layout(0).shape;
  const int axis =
      Normalised(std::get<AxisParams>(call.params).axis, x.shape.rank());
  ElementsView view = {};
  view.rank = x.shape.rank();
  for (int d = 0; d < view.rank; ++d) {
    view.extents[d] = y[d];
    view.strides[d] = d == axis ? 0 : x.strides[d];
  }
  view.axis_stride = x.strides[axis];
  view.axis_extent = x.shape[axis];
  view.count = y.element_count();
  return Launch(call.context, GatherSingly<Element>, ForElements(view.count),
                view, call.input<Element>(0), IndicesOf<IndexType>(call, 1),
                call.output<Element>(0));
}

template <int kBytes>
absl::Status RunGatherND(const KernelCall& call) {
  const auto batch_dims =
      static_cast<int>(std::get<GatherNdParams>(call.params).batch_dims);
  const Shape& tuples = call.input_layout(1).shape;
  const int last = tuples.rank() - 1;
  const TupleIndex index =
      TupleIndex::Make(call.input_layout(0).shape, batch_dims, tuples[last]);
  const int64_t count = call.output_layout(0).shape.element_count();
  if (count == 0) return absl::OkStatus();
  const std::byte* source = SourceOf(call, 0, kBytes);
  std::byte* destination = DestinationOf(call, 0, kBytes);
  const int width =
      WidestElement(kBytes, index.slice * kBytes, {source, destination});
  const int64_t run = width / kBytes;
  return VisitElementBytes(width, [&](auto bytes) {
    using Element = ElementOf<decltype(bytes)::value>;
    return Launch(call.context, GatherTuples<Element>, ForElements(count / run),
                  index, index.slice / run,
                  reinterpret_cast<const Element*>(source),
                  call.input<int64_t>(1), tuples.ElementCount(batch_dims, last),
                  index.whole / index.slice,
                  reinterpret_cast<Element*>(destination), count / run);
  });
}

// What is written, and as much read, beside the indices.
KernelCost GatherCost(const NodeSite& site) {
  const double moved = static_cast<double>(
      ByteSize(site.output_dtype(0), site.output(0).shape.element_count()));
  const double indices = static_cast<double>(
      ByteSize(site.input_dtype(1), site.input(1).shape.element_count()));
  return {.bytes = 2 * moved + indices};
}

#define GATHER(dtype, bytes, suffix, op, name, Index, index, index_suffix) \
  TENSORD_CUDA_ROW(op, name "_" suffix "_" index_suffix,                   \
                   (Takes({DType::dtype, DType::index}, {DType::dtype})),  \
                   "gather.cu", .cost = &GatherCost,                       \
                   .run = &Run##op<bytes, Index>)
#define GATHER_ND(dtype, bytes, suffix, ...)                               \
  TENSORD_CUDA_ROW(GatherND, "gather_nd_" suffix,                          \
                   (Takes({DType::dtype, DType::kInt64}, {DType::dtype})), \
                   "gather.cu", .cost = &GatherCost,                       \
                   .run = &RunGatherND<bytes>)

constexpr KernelEntry kRows[] = {
    TENSORD_CUDA_BYTES(GATHER, Gather, "gather", int32_t, kInt32, "i32"),
    TENSORD_CUDA_BYTES(GATHER, Gather, "gather", int64_t, kInt64, "i64"),
    TENSORD_CUDA_BYTES(GATHER, GatherElements, "gather_elements", int32_t,
                       kInt32, "i32"),
    TENSORD_CUDA_BYTES(GATHER, GatherElements, "gather_elements", int64_t,
                       kInt64, "i64"),
    TENSORD_CUDA_BYTES(GATHER_ND),
};

}  // namespace

absl::Span<const KernelEntry> GatherRows() { return kRows; }

}  // namespace tensord::cuda
