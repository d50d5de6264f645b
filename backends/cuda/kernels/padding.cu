// Copies in which each element's source follows from a rule: Pad,
// CenterCropPad, Trilu, ReverseSequence.
//
//   Pad              y[i...] = x[i - begin...], as the mode says outside of x
//   CenterCropPad    the same with zeros, half of what is missing before x
//   Trilu            y[b, r, c] = x[b, r, c] on one side of a diagonal, else 0
//   ReverseSequence  y[t, b, i] = x[length[b] - 1 - t, b, i] for t < length[b]
//
// x and y are contiguous; only Trilu's may be one buffer. Elements are copied
// as unsigned integers of their size. The pads and axes must be known before
// the run; Pad's value, Trilu's diagonal and the lengths are read on the
// device. A length outside [0, extent of the time axis] counts as the nearest
// that is not.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "backends/api/host_arguments.h"
#include "backends/api/kernel.h"
#include "backends/cuda/kernels/divisor.h"
#include "backends/cuda/kernels/element.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

// Dimensions of y, the innermost last; those that are not padded are merged.
template <typename Index>
struct PadAxes {
  using Signed = std::make_signed_t<Index>;

  int count = 0;
  PadMode mode;
  Divisor<Index> y[kMaxRank];
  Signed x[kMaxRank];
  Signed begin[kMaxRank];
};

// The index in x, of `extent` elements, for index i relative to x's first
// element; -1 for the value.
template <typename Signed>
__device__ Signed SourceIndex(PadMode mode, Signed i, Signed extent) {
  if (i >= 0 && i < extent) return i;
  if (mode == PadMode::kConstant) return -1;
  if (mode == PadMode::kEdge) return i < 0 ? 0 : extent - 1;
  if (mode == PadMode::kReflect && extent == 1) return 0;
  const Signed period = mode == PadMode::kWrap ? extent : 2 * (extent - 1);
  Signed at = i % period;
  if (at < 0) at += period;
  return at < extent ? at : period - at;
}

template <typename Element, typename Index>
__global__ void PadElements(PadAxes<Index> axes, const Element* x,
                            const Element* value, Element* y, Index count) {
  using Signed = std::make_signed_t<Index>;
  const Element outside = value == nullptr ? Element{} : *value;
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < count; i += step) {
    Index rest = i;
    Signed offset = 0;
    Signed stride = 1;
    bool is_inside = true;
    for (int d = axes.count - 1; d >= 0; --d) {
      Index index = rest;
      rest = DivideBy(axes.y[d], index);
      const Signed at = SourceIndex(
          axes.mode, static_cast<Signed>(index) - axes.begin[d], axes.x[d]);
      is_inside = is_inside && at >= 0;
      offset += at * stride;
      stride *= axes.x[d];
    }
    y[i] = is_inside ? x[offset] : outside;
  }
}

template <typename Element>
__global__ void TriluElements(const Element* x, const int64_t* diagonal,
                              Element* y, int64_t rows, int64_t columns,
                              int64_t count, bool is_upper) {
  // Past the matrix every diagonal is alike; r + k must not overflow.
  int64_t k = diagonal == nullptr ? 0 : *diagonal;
  k = k < -rows - 1 ? -rows - 1 : k > columns + 1 ? columns + 1 : k;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const int64_t c = i % columns;
    const int64_t r = i / columns % rows;
    const bool stays = is_upper ? c >= r + k : c <= r + k;
    y[i] = stays ? x[i] : Element{};
  }
}

template <typename Element>
__global__ void ReverseElements(const Element* x, const int64_t* lengths,
                                Element* y, int64_t times, int64_t batches,
                                int64_t slice, bool is_time_first) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
       i < times * batches * slice; i += step) {
    const int64_t at = i / slice;
    const int64_t t = is_time_first ? at / batches : at % times;
    const int64_t b = is_time_first ? at % batches : at / times;
    const int64_t length = lengths[b] < times ? lengths[b] : times;
    const int64_t from = t < length ? length - 1 - t : t;
    const int64_t source =
        is_time_first ? from * batches + b : b * times + from;
    y[i] = x[source * slice + i % slice];
  }
}

// How far x is moved along each dimension.
class Begins final : public KernelState {
 public:
  Dims begins;
};

absl::Status AcceptsPad(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  return CheckKnown(site, {1, 3});
}

absl::StatusOr<std::unique_ptr<KernelState>> PreparePad(const NodeSite& site,
                                                        Device&) {
  const int rank = site.input(0).shape.rank();
  auto state = std::make_unique<Begins>();
  state->begins.resize(rank);
  if (!IsGiven(site, 1)) return state;
  const Dims pads = HostIntegers(site, 1);
  if (!site.has_input(3)) {
    std::copy_n(pads.begin(), rank, state->begins.begin());
    return state;
  }
  const Dims axes = IsGiven(site, 3) ? HostIntegers(site, 3) : Dims();
  for (size_t i = 0; i < axes.size(); ++i) {
    state->begins[Normalised(axes[i], rank)] = pads[i];
  }
  return state;
}

template <typename Element, typename Index>
absl::Status EnqueuePad(const KernelCall& call, PadMode mode,
                        const Dims& begins, const Element* value) {
  const Shape& x = call.input_layout(0).shape;
  const Shape& y = call.output_layout(0).shape;
  PadAxes<Index> axes = {};
  axes.mode = mode;
  Dims extents;  // of y
  bool was_whole = false;
  for (int d = 0; d < y.rank(); ++d) {
    const bool is_whole = begins[d] == 0 && x[d] == y[d];
    if (is_whole && was_whole) {
      axes.x[axes.count - 1] *= static_cast<std::make_signed_t<Index>>(x[d]);
      extents.back() *= y[d];
    } else {
      axes.x[axes.count] = static_cast<std::make_signed_t<Index>>(x[d]);
      axes.begin[axes.count++] =
          static_cast<std::make_signed_t<Index>>(begins[d]);
      extents.push_back(y[d]);
    }
    was_whole = is_whole;
  }
  for (int d = 0; d < axes.count; ++d) axes.y[d] = Divisor<Index>(extents[d]);
  const int64_t count = y.element_count();
  return Launch(call.context, PadElements<Element, Index>, ForElements(count),
                axes, call.input<Element>(0), value, call.output<Element>(0),
                static_cast<Index>(count));
}

template <typename Element>
absl::Status PadBy(const KernelCall& call, PadMode mode, const Dims& begins,
                   const Element* value) {
  const Shape& x = call.input_layout(0).shape;
  const Shape& y = call.output_layout(0).shape;
  if (y.element_count() == 0) return absl::OkStatus();
  bool is_narrow = std::max(x.element_count(), y.element_count()) < kMostNarrow;
  // An extent may be beyond the count where another one is 0.
  for (int d = 0; d < x.rank(); ++d) is_narrow &= x[d] < kMostNarrow;
  return is_narrow ? EnqueuePad<Element, uint32_t>(call, mode, begins, value)
                   : EnqueuePad<Element, uint64_t>(call, mode, begins, value);
}

template <int kBytes>
absl::Status RunPad(const KernelCall& call) {
  using Element = ElementOf<kBytes>;
  return PadBy<Element>(call, std::get<PadParams>(call.params).mode,
                        static_cast<const Begins*>(call.state)->begins,
                        call.has_input(2) ? call.input<Element>(2) : nullptr);
}

template <int kBytes>
absl::Status RunCenterCropPad(const KernelCall& call) {
  const Shape& x = call.input_layout(0).shape;
  const Shape& y = call.output_layout(0).shape;
  Dims begins;
  for (int d = 0; d < x.rank(); ++d) {
    begins.push_back(y[d] > x[d] ? (y[d] - x[d]) / 2 : -((x[d] - y[d]) / 2));
  }
  return PadBy<ElementOf<kBytes>>(call, PadMode::kConstant, begins, nullptr);
}

template <int kBytes>
absl::Status RunTrilu(const KernelCall& call) {
  using Element = ElementOf<kBytes>;
  const Shape& shape = call.input_layout(0).shape;
  return Launch(call.context, TriluElements<Element>,
                ForElements(shape.element_count()), call.input<Element>(0),
                call.has_input(1) ? call.input<int64_t>(1) : nullptr,
                call.output<Element>(0), shape[shape.rank() - 2],
                shape[shape.rank() - 1], shape.element_count(),
                std::get<TriluParams>(call.params).is_upper);
}

template <int kBytes>
absl::Status RunReverseSequence(const KernelCall& call) {
  using Element = ElementOf<kBytes>;
  const bool is_time_first =
      std::get<ReverseSequenceParams>(call.params).is_time_first;
  const Shape& shape = call.input_layout(0).shape;
  return Launch(call.context, ReverseElements<Element>,
                ForElements(shape.element_count()), call.input<Element>(0),
                call.input<int64_t>(1), call.output<Element>(0),
                shape[is_time_first ? 0 : 1], shape[is_time_first ? 1 : 0],
                shape.ElementCount(2, shape.rank()), is_time_first);
}

// What is written, and as much read.
KernelCost PaddingCost(const NodeSite& site) {
  return {.bytes = 2 * static_cast<double>(
                           ByteSize(site.output_dtype(0),
                                    site.output(0).shape.element_count()))};
}

#define PAD(dtype, bytes, suffix, axes_dtype, axes)                          \
  TENSORD_CUDA_ROW(                                                          \
      Pad, "pad_" suffix axes,                                               \
      (Takes({DType::dtype, DType::kInt64, DType::dtype, DType::axes_dtype}, \
             {DType::dtype})),                                               \
      "padding.cu", .accepts = &AcceptsPad, .prepare = &PreparePad,          \
      .cost = &PaddingCost, .run = &RunPad<bytes>)
// Input 1, if any, says how; of any dtype where the kernel does not read it.
#define PLACE(dtype, bytes, suffix, op, name, how, ...)                        \
  TENSORD_CUDA_ROW(op, name "_" suffix,                                        \
                   (Takes({DType::dtype, DType::how}, {DType::dtype})),        \
                   "padding.cu", .cost = &PaddingCost, .run = &Run##op<bytes>, \
                   __VA_ARGS__)

constexpr KernelEntry kRows[] = {
    TENSORD_CUDA_BYTES(PAD, kInt64, ""),
    TENSORD_CUDA_BYTES(PAD, kInt32, "_axes_i32"),
    TENSORD_CUDA_BYTES(PLACE, CenterCropPad, "center_crop_pad", kUndefined),
    TENSORD_CUDA_BYTES(PLACE, Trilu, "trilu", kInt64,
                       .caps = {.in_place_inputs = 0b1}),
    TENSORD_CUDA_BYTES(PLACE, ReverseSequence, "reverse_sequence", kInt64),
};

}  // namespace

absl::Span<const KernelEntry> PaddingRows() { return kRows; }

}  // namespace tensord::cuda
