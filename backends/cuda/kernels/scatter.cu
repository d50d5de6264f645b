// ScatterElements (and Scatter, its first form), ScatterND and MaxUnpool.
//
//   y = x, or 0; then for each update in order:
//   ScatterElements  y[i0, ..., indices[i...], ...] (op)= updates[i...]
//   ScatterND        y[tuple t of the indices, ...] (op)= updates[t, ...]
//   MaxUnpool        y[place(indices[i])] = x[i]
//
// All are contiguous; y may be x's buffer, but for MaxUnpool. (op) replaces,
// adds, multiplies or takes the greater or the less; integers wrap, and a NaN
// wins against numbers. An update whose index is out of range is left out.
//
// Replacing is done in the updates' order although they run side by side: first
// each place that is written notes the last update of it, then only those are
// stored. What combines does so by atomic operations in any order, 16-bit
// floats rounded after each.

#include <string.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "backends/api/host_arguments.h"
#include "backends/api/kernel.h"
#include "backends/api/window.h"
#include "backends/cuda/kernels/element.h"
#include "backends/cuda/kernels/indices.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/operand_address.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"
#include "backends/cuda/kernels/strided_copy.h"

namespace tensord::cuda {
namespace {

// Notes are numbers of updates from 1 on.
constexpr int64_t kMostUpdates = (int64_t{1} << 32) - 2;

enum class TargetKind { kElements, kTuples, kPlaces };

// Which slice of y an update goes to; slices are single elements but for
// kTuples.
struct Targets {
  TargetKind kind;
  Indices indices;
  int64_t updates;  // slices
  int64_t slice = 1;
  TupleIndex tuples;  // kTuples

  // kElements: the updates' extents, and y's strides but for the axis. kPlaces:
  // the extents that indices count, and y's strides.
  int rank = 0;
  int64_t extents[kMaxRank];
  int64_t strides[kMaxRank];
  int64_t axis_extent;
  int64_t axis_stride;

  // -1 where the index is out of range.
  __device__ int64_t Of(int64_t update) const {
    if (kind == TargetKind::kTuples) {
      return tuples.SliceOf(static_cast<const int64_t*>(indices.values) +
                            update * tuples.length);
    }
    int64_t index = indices.At(update);
    int64_t rest = update;
    int64_t place = 0;
    if (kind == TargetKind::kElements) {
      index = Resolved(index, axis_extent);
      if (index < 0) return -1;
      place = index * axis_stride;
    } else {
      if (index < 0 || index >= axis_extent) return -1;
      rest = index;
    }
    for (int d = rank - 1; d >= 0; --d) {
      place += rest % extents[d] * strides[d];
      rest /= extents[d];
    }
    return place;
  }
};

__device__ int64_t GridThread() {
  return int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ int64_t GridThreads() { return int64_t{gridDim.x} * blockDim.x; }

__global__ void ClearNotes(Targets targets, unsigned* notes) {
  for (int64_t u = GridThread(); u < targets.updates; u += GridThreads()) {
    const int64_t target = targets.Of(u);
    if (target >= 0) notes[target] = 0;
  }
}

__global__ void NoteLast(Targets targets, unsigned* notes) {
  for (int64_t u = GridThread(); u < targets.updates; u += GridThreads()) {
    const int64_t target = targets.Of(u);
    if (target >= 0) atomicMax(&notes[target], static_cast<unsigned>(u + 1));
  }
}

// `slice` is in elements of T. Without notes no two updates share a target.
template <typename T>
__global__ void StoreLast(Targets targets, int64_t slice, const unsigned* notes,
                          const T* updates, T* y) {
  for (int64_t i = GridThread(); i < targets.updates * slice;
       i += GridThreads()) {
    const int64_t u = i / slice;
    const int64_t target = targets.Of(u);
    if (target < 0) continue;
    if (notes != nullptr && notes[target] != static_cast<unsigned>(u + 1)) {
      continue;
    }
    y[target * slice + i % slice] = updates[i];
  }
}

template <typename T>
__global__ void FillZeros(T* y, int64_t count) {
  for (int64_t i = GridThread(); i < count; i += GridThreads()) y[i] = T{};
}

template <typename T>
__device__ T Combined(ScatterReduction reduction, T y, T update) {
  using W = Wrapping<T>;
  switch (reduction) {
    case ScatterReduction::kAdd:
      return Convert<T>(static_cast<W>(ToCompute(y)) +
                        static_cast<W>(ToCompute(update)));
    case ScatterReduction::kMul:
      return Convert<T>(static_cast<W>(ToCompute(y)) *
                        static_cast<W>(ToCompute(update)));
    case ScatterReduction::kMax:
    case ScatterReduction::kMin: {
      const auto a = ToCompute(y);
      const auto b = ToCompute(update);
      const bool replaces = reduction == ScatterReduction::kMax ? b > a : b < a;
      return replaces || b != b ? update : y;
    }
    case ScatterReduction::kNone:
      break;
  }
  return update;
}

// Bits of a plain element as another type of its size.
template <typename To, typename From>
__device__ To BitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof(to));
  return to;
}

// *y = Combined(*y, update), atomically. Elements of less than a word change
// within theirs: a tensor's storage ends at a word's end.
template <typename T>
__device__ void Combine(ScatterReduction reduction, T* y, T update) {
  if constexpr (sizeof(T) >= 4) {
    using Word = std::conditional_t<sizeof(T) == 4, unsigned,
                                    unsigned long long>;  // NOLINT: CUDA's
    Word* word = reinterpret_cast<Word*>(y);
    Word old = *word;
    while (true) {
      const Word wanted =
          BitsAs<Word>(Combined(reduction, BitsAs<T>(old), update));
      const Word seen = wanted == old ? old : atomicCAS(word, old, wanted);
      if (seen == old) return;
      old = seen;
    }
  } else {
    using Part = std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>;
    const auto address = reinterpret_cast<uintptr_t>(y);
    auto* word = reinterpret_cast<unsigned*>(address & ~uintptr_t{3});
    const unsigned shift = 8 * static_cast<unsigned>(address & 3);
    const unsigned mask = static_cast<unsigned>(Part(~Part{0})) << shift;
    unsigned old = *word;
    while (true) {
      const T element = BitsAs<T>(static_cast<Part>(old >> shift));
      const auto part = BitsAs<Part>(Combined(reduction, element, update));
      const unsigned wanted =
          (old & ~mask) | (static_cast<unsigned>(part) << shift);
      const unsigned seen = wanted == old ? old : atomicCAS(word, old, wanted);
      if (seen == old) return;
      old = seen;
    }
  }
}

template <typename T>
__global__ void CombineAll(Targets targets, ScatterReduction reduction,
                           const T* updates, T* y) {
  for (int64_t i = GridThread(); i < targets.updates * targets.slice;
       i += GridThreads()) {
    const int64_t target = targets.Of(i / targets.slice);
    if (target < 0) continue;
    T* to = y + target * targets.slice + i % targets.slice;
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      if (reduction == ScatterReduction::kAdd) {
        atomicAdd(to, updates[i]);
        continue;
      }
    }
    Combine(reduction, to, updates[i]);
  }
}

// Where inputs 1 of ScatterElements and ScatterND point.
template <typename Index>
Targets ElementTargets(const KernelCall& call) {
  const Layout& y = call.output_layout(0);
  const int axis =
      Normalised(std::get<ScatterParams>(call.params).axis, y.shape.rank());
  const Shape& shape = call.input_layout(1).shape;
  Targets targets = {.kind = TargetKind::kElements,
                     .indices = IndicesOf<Index>(call, 1),
                     .updates = shape.element_count()};
  targets.rank = shape.rank();
  for (int d = 0; d < targets.rank; ++d) {
    targets.extents[d] = shape[d];
    targets.strides[d] = d == axis ? 0 : y.strides[d];
  }
  targets.axis_extent = y.shape[axis];
  targets.axis_stride = y.strides[axis];
  return targets;
}

Targets TupleTargets(const KernelCall& call) {
  const Shape& shape = call.input_layout(1).shape;
  const int last = shape.rank() - 1;
  Targets targets = {.kind = TargetKind::kTuples,
                     .indices = IndicesOf<int64_t>(call, 1),
                     .updates = shape.ElementCount(0, last)};
  targets.tuples =
      TupleIndex::Make(call.output_layout(0).shape, 0, shape[last]);
  targets.slice = targets.tuples.slice;
  return targets;
}

// MaxUnpool's indices count elements of the extents that MaxPool with these
// parameters would have pooled, which may be fewer than y's in any spatial
// dimension: they are y's first ones then.
Targets PlaceTargets(const KernelCall& call) {
  const auto& params = std::get<PoolParams>(call.params);
  const Shape& x = call.input_layout(0).shape;
  const Layout& y = call.output_layout(0);
  Targets targets = {.kind = TargetKind::kPlaces,
                     .indices = IndicesOf<int64_t>(call, 1),
                     .updates = x.element_count()};
  targets.rank = x.rank();
  targets.axis_extent = 1;
  for (int d = 0; d < targets.rank; ++d) {
    targets.extents[d] = x[d];
    targets.strides[d] = y.strides[d];
    if (d >= 2) {
      const WindowAxis window = ResolveWindowAxis(params, d - 2, x.rank() - 2,
                                                  /*input_extent=*/1);
      targets.extents[d] = x[d] * window.stride + window.kernel -
                           window.stride - window.pad_begin - window.pad_end;
    }
    targets.axis_extent *= targets.extents[d];
  }
  return targets;
}

// y = input 0, where they are not one buffer.
absl::Status CopyData(const KernelCall& call, int bytes) {
  const std::byte* x = SourceOf(call, 0, bytes);
  std::byte* y = DestinationOf(call, 0, bytes);
  if (x == y) return absl::OkStatus();
  return Enqueue(
      call.context,
      StridedCopy{
          x, y, bytes, {{call.output_layout(0).shape.element_count(), 1, 1}}});
}

// y = updates in their order, over what is there.
absl::Status Replace(const KernelCall& call, const Targets& targets, int bytes,
                     const std::byte* updates) {
  if (targets.updates == 0 || targets.slice == 0) return absl::OkStatus();
  std::byte* y = DestinationOf(call, 0, bytes);
  unsigned* notes = nullptr;
  if (targets.updates > 1) {
    notes = reinterpret_cast<unsigned*>(call.context.workspace.address());
    const LaunchShape shape = ForElements(targets.updates);
    if (absl::Status s =
            Launch(call.context, ClearNotes, shape, targets, notes);
        !s.ok()) {
      return s;
    }
    if (absl::Status s = Launch(call.context, NoteLast, shape, targets, notes);
        !s.ok()) {
      return s;
    }
  }
  const int width = WidestElement(bytes, targets.slice * bytes, {updates, y});
  const int64_t slice = targets.slice * bytes / width;
  return VisitElementBytes(width, [&](auto size) {
    using Element = ElementOf<decltype(size)::value>;
    return Launch(call.context, StoreLast<Element>,
                  ForElements(targets.updates * slice), targets, slice,
                  static_cast<const unsigned*>(notes),
                  reinterpret_cast<const Element*>(updates),
                  reinterpret_cast<Element*>(y));
  });
}

template <typename T>
absl::Status CombineWith(const KernelCall& call, const Targets& targets) {
  const ScatterReduction reduction =
      std::get<ScatterParams>(call.params).reduction;
  if (absl::Status s = CopyData(call, sizeof(T)); !s.ok()) return s;
  return Launch(call.context, CombineAll<T>,
                ForElements(targets.updates * targets.slice), targets,
                reduction, call.input<T>(2), call.output<T>(0));
}

template <int kBytes, typename Index>
absl::Status RunScatterElements(const KernelCall& call) {
  if (absl::Status s = CopyData(call, kBytes); !s.ok()) return s;
  return Replace(call, ElementTargets<Index>(call), kBytes,
                 SourceOf(call, 2, kBytes));
}

template <int kBytes>
absl::Status RunScatterND(const KernelCall& call) {
  if (absl::Status s = CopyData(call, kBytes); !s.ok()) return s;
  return Replace(call, TupleTargets(call), kBytes, SourceOf(call, 2, kBytes));
}

template <typename T, typename Index>
absl::Status RunScatterElementsReduce(const KernelCall& call) {
  return CombineWith<T>(call, ElementTargets<Index>(call));
}

template <typename T>
absl::Status RunScatterNDReduce(const KernelCall& call) {
  return CombineWith<T>(call, TupleTargets(call));
}

template <int kBytes>
absl::Status RunMaxUnpool(const KernelCall& call) {
  using Element = ElementOf<kBytes>;
  const int64_t count = call.output_layout(0).shape.element_count();
  if (count == 0) return absl::OkStatus();
  if (absl::Status s =
          Launch(call.context, FillZeros<Element>, ForElements(count),
                 call.output<Element>(0), count);
      !s.ok()) {
    return s;
  }
  return Replace(call, PlaceTargets(call), kBytes, SourceOf(call, 0, kBytes));
}

absl::Status CheckUpdates(int64_t updates) {
  if (updates <= kMostUpdates) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat(updates, " updates are more than ", kMostUpdates));
}

absl::Status AcceptsReplacing(const NodeSite& site) {
  if (std::get<ScatterParams>(site.params).reduction !=
      ScatterReduction::kNone) {
    return absl::FailedPreconditionError("a reduction combines elements");
  }
  if (site.layouts.empty()) return absl::OkStatus();
  return CheckUpdates(site.input(1).shape.element_count());
}

absl::Status AcceptsCombining(const NodeSite& site) {
  if (std::get<ScatterParams>(site.params).reduction !=
      ScatterReduction::kNone) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError("without a reduction bytes are copied");
}

absl::Status AcceptsMaxUnpool(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  return CheckUpdates(site.input(0).shape.element_count());
}

// A note for each slice that may be written.
uint64_t NotesBytes(const NodeSite& site) {
  int64_t slice = 1;
  const Shape& y = site.output(0).shape;
  if (site.op == OpKind::kScatterND) {
    const Shape& tuples = site.input(1).shape;
    slice =
        y.ElementCount(static_cast<int>(tuples[tuples.rank() - 1]), y.rank());
  }
  return slice == 0 ? 0 : y.element_count() / slice * sizeof(unsigned);
}

KernelCost ScatterCost(const NodeSite& site) {
  double bytes = 0;
  for (size_t i = 0; i < site.dtypes.size(); ++i) {
    bytes += static_cast<double>(
        ByteSize(site.dtypes[i], site.layouts[i].shape.element_count()));
  }
  return {.bytes = 2 * bytes};
}

#define REPLACING .accepts = &AcceptsReplacing, .workspace_bytes = &NotesBytes
#define SCATTER(dtype, bytes, suffix, op, name, Index, index, index_suffix) \
  TENSORD_CUDA_ROW(                                                         \
      op, name "_" suffix "_" index_suffix,                                 \
      (Takes({DType::dtype, DType::index, DType::dtype}, {DType::dtype})),  \
      "scatter.cu", REPLACING, .cost = &ScatterCost,                        \
      .run = &RunScatterElements<bytes, Index>,                             \
      .caps = {.in_place_inputs = 0b1})
#define SCATTER_ND(dtype, bytes, suffix, ...)                               \
  TENSORD_CUDA_ROW(                                                         \
      ScatterND, "scatter_nd_" suffix,                                      \
      (Takes({DType::dtype, DType::kInt64, DType::dtype}, {DType::dtype})), \
      "scatter.cu", REPLACING, .cost = &ScatterCost,                        \
      .run = &RunScatterND<bytes>, .caps = {.in_place_inputs = 0b1})
// Sums and products of floats depend on the order.
#define COMBINING(T, run_)                                             \
  "scatter.cu",                                                        \
      .accepts = &AcceptsCombining, .cost = &ScatterCost, .run = run_, \
      .caps = {.in_place_inputs = 0b1, .is_deterministic = !kIsFloat<T>}
#define SCATTER_REDUCE(T, dtype, suffix, Index, index, index_suffix)       \
  TENSORD_CUDA_ROW(                                                        \
      ScatterElements, "scatter_elements_reduce_" suffix "_" index_suffix, \
      (Takes({DType::dtype, DType::index, DType::dtype}, {DType::dtype})), \
      COMBINING(T, (&RunScatterElementsReduce<T, Index>)))
#define SCATTER_ND_REDUCE(T, dtype, suffix, ...)                            \
  TENSORD_CUDA_ROW(                                                         \
      ScatterND, "scatter_nd_reduce_" suffix,                               \
      (Takes({DType::dtype, DType::kInt64, DType::dtype}, {DType::dtype})), \
      COMBINING(T, &RunScatterNDReduce<T>))
#define MAX_UNPOOL(dtype, bytes, suffix)                                   \
  TENSORD_CUDA_ROW(MaxUnpool, "max_unpool_" suffix,                        \
                   (Takes({DType::dtype, DType::kInt64}, {DType::dtype})), \
                   "scatter.cu", .accepts = &AcceptsMaxUnpool,             \
                   .workspace_bytes = &NotesBytes, .cost = &ScatterCost,   \
                   .run = &RunMaxUnpool<bytes>)

constexpr KernelEntry kRows[] = {
    TENSORD_CUDA_BYTES(SCATTER, Scatter, "scatter", int32_t, kInt32, "i32"),
    TENSORD_CUDA_BYTES(SCATTER, Scatter, "scatter", int64_t, kInt64, "i64"),
    TENSORD_CUDA_BYTES(SCATTER, ScatterElements, "scatter_elements", int32_t,
                       kInt32, "i32"),
    TENSORD_CUDA_BYTES(SCATTER, ScatterElements, "scatter_elements", int64_t,
                       kInt64, "i64"),
    TENSORD_CUDA_FLOATS(SCATTER_REDUCE, int32_t, kInt32, "i32"),
    TENSORD_CUDA_INTEGERS(SCATTER_REDUCE, int32_t, kInt32, "i32"),
    TENSORD_CUDA_FLOATS(SCATTER_REDUCE, int64_t, kInt64, "i64"),
    TENSORD_CUDA_INTEGERS(SCATTER_REDUCE, int64_t, kInt64, "i64"),
    TENSORD_CUDA_BYTES(SCATTER_ND),
    TENSORD_CUDA_FLOATS(SCATTER_ND_REDUCE),
    TENSORD_CUDA_INTEGERS(SCATTER_ND_REDUCE),
    MAX_UNPOOL(kFloat32, 4, "f32"),
    MAX_UNPOOL(kFloat64, 8, "f64"),
    MAX_UNPOOL(kFloat16, 2, "f16"),
    MAX_UNPOOL(kBFloat16, 2, "bf16"),
};

}  // namespace

absl::Span<const KernelEntry> ScatterRows() { return kRows; }

}  // namespace tensord::cuda
