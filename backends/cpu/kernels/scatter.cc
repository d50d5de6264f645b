// ScatterElements (and Scatter, its first form) and ScatterND.
//
//   y = x; then for each update in order:
//   ScatterElements  y[i0, ..., indices[i...], ...] (op)= updates[i...]
//   ScatterND        y[tuple t of the indices, ...] (op)= updates[t, ...]
//
// All are contiguous; y may be x's buffer. (op) replaces, adds, multiplies or
// takes the greater or the less; numbers are combined in their own type (16-bit
// floats in float32, rounded after each update), integers wrap, and a NaN wins
// against numbers. An index below 0 counts from the end; one out of range is
// kInvalidArgument, and nothing is written then. Updates of one element are
// applied in their order, so the kernels run on one thread. What only replaces
// copies bytes: one kernel for each element size.

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/kernels/indices.h"
#include "backends/cpu/kernels/strided_walk.h"
#include "backends/cpu/kernels/wrapping.h"

namespace tensord {
namespace {

template <typename T>
bool IsNan(T x) {
  if constexpr (kIsFloat<T>) return x != x;
  return false;
}

template <typename T>
struct Replace {
  void operator()(T& y, T update) const { y = update; }
};
template <typename T>
struct Add {
  void operator()(T& y, T update) const {
    using U = Wrapping<T>;
    y = static_cast<T>(static_cast<U>(y) + static_cast<U>(update));
  }
};
template <typename T>
struct Multiply {
  void operator()(T& y, T update) const {
    using U = Wrapping<T>;
    y = static_cast<T>(static_cast<U>(y) * static_cast<U>(update));
  }
};
template <typename T>
struct Maximum {
  void operator()(T& y, T update) const {
    if (update > y || IsNan(update)) y = update;
  }
};
template <typename T>
struct Minimum {
  void operator()(T& y, T update) const {
    if (update < y || IsNan(update)) y = update;
  }
};

template <typename T>
T* CopyData(const KernelCall& call) {
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  const int64_t elements = call.output_layout(0).shape.element_count();
  if (x != y && elements != 0) std::memcpy(y, x, elements * sizeof(T));
  return y;
}

template <typename T, typename Index, typename Combine>
absl::Status ScatterElements(const KernelCall& call, Combine combine) {
  const Layout& y_layout = call.output_layout(0);
  const int64_t given_axis = std::get<ScatterParams>(call.params).axis;
  const int axis = static_cast<int>(
      given_axis < 0 ? given_axis + y_layout.shape.rank() : given_axis);
  const int64_t extent = y_layout.shape[axis];
  const int64_t axis_stride = y_layout.strides[axis];
  const Shape& shape = call.input_layout(1).shape;
  const Index* indices = call.input<Index>(1);
  if (absl::Status status =
          CheckIndices(indices, shape.element_count(), extent);
      !status.ok()) {
    return status;
  }
  T* y = CopyData<T>(call);
  if (shape.element_count() == 0) return absl::OkStatus();
  const T* updates = call.input<T>(2);
  // Where an update would go if its index were 0.
  const StridedWalk<1> walk(
      shape, [&](int, int d) { return d == axis ? 0 : y_layout.strides[d]; });
  const int64_t step = walk.strides[0][walk.rank - 1];
  walk.ForRange(
      0, shape.element_count(),
      [&](int64_t at, const std::array<int64_t, 1>& offsets, int64_t length) {
        for (int64_t i = at; i < at + length; ++i) {
          const int64_t index = indices[i];
          combine(y[offsets[0] + (i - at) * step +
                    (index < 0 ? index + extent : index) * axis_stride],
                  updates[i]);
        }
      });
  return absl::OkStatus();
}

template <typename T, typename Combine>
absl::Status ScatterNd(const KernelCall& call, Combine combine) {
  const Shape& indices_shape = call.input_layout(1).shape;
  const int last = indices_shape.rank() - 1;
  const TupleIndex index(call.output_layout(0).shape, 0, indices_shape[last]);
  const int64_t count = indices_shape.ElementCount(0, last);
  const int64_t* indices = call.input<int64_t>(1);
  if (absl::Status status = index.Check(indices, count); !status.ok()) {
    return status;
  }
  T* y = CopyData<T>(call);
  const T* updates = call.input<T>(2);
  for (int64_t t = 0; t < count; ++t) {
    T* slice = y + index.OffsetOf(indices + t * index.length());
    for (int64_t i = 0; i < index.slice(); ++i) {
      combine(slice[i], updates[t * index.slice() + i]);
    }
  }
  return absl::OkStatus();
}

// Calls scatter(combine) for the node's reduction.
template <typename T, typename Scatter>
absl::Status Reduce(const KernelCall& call, Scatter scatter) {
  switch (std::get<ScatterParams>(call.params).reduction) {
    case ScatterReduction::kNone:
      return scatter(Replace<T>());
    case ScatterReduction::kAdd:
      return scatter(Add<T>());
    case ScatterReduction::kMul:
      return scatter(Multiply<T>());
    case ScatterReduction::kMax:
      return scatter(Maximum<T>());
    case ScatterReduction::kMin:
      return scatter(Minimum<T>());
  }
  return absl::InternalError("no such reduction");
}

}  // namespace

absl::Status AcceptsScatterBytes(const NodeSite& site) {
  if (std::get<ScatterParams>(site.params).reduction ==
      ScatterReduction::kNone) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError("a reduction combines elements");
}

template <int kElementBytes, typename Index>
absl::Status RunScatterElementsBytes(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  return ScatterElements<Element, Index>(call, Replace<Element>());
}

template <int kElementBytes>
absl::Status RunScatterNDBytes(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  return ScatterNd<Element>(call, Replace<Element>());
}

template <typename T, typename Index>
absl::Status RunScatterElementsReduce(const KernelCall& call) {
  return Reduce<T>(call, [&](auto combine) {
    return ScatterElements<T, Index>(call, combine);
  });
}

template <typename T>
absl::Status RunScatterNDReduce(const KernelCall& call) {
  return Reduce<T>(call,
                   [&](auto combine) { return ScatterNd<T>(call, combine); });
}

#define TENSORD_INSTANTIATE_BYTES(bytes)                         \
  template absl::Status RunScatterElementsBytes<bytes, int32_t>( \
      const KernelCall&);                                        \
  template absl::Status RunScatterElementsBytes<bytes, int64_t>( \
      const KernelCall&);                                        \
  template absl::Status RunScatterNDBytes<bytes>(const KernelCall&);
#define TENSORD_INSTANTIATE(T)                                \
  template absl::Status RunScatterElementsReduce<T, int32_t>( \
      const KernelCall&);                                     \
  template absl::Status RunScatterElementsReduce<T, int64_t>( \
      const KernelCall&);                                     \
  template absl::Status RunScatterNDReduce<T>(const KernelCall&);

TENSORD_INSTANTIATE_BYTES(1)
TENSORD_INSTANTIATE_BYTES(2)
TENSORD_INSTANTIATE_BYTES(4)
TENSORD_INSTANTIATE_BYTES(8)
TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)
TENSORD_INSTANTIATE(int8_t)
TENSORD_INSTANTIATE(int16_t)
TENSORD_INSTANTIATE(int32_t)
TENSORD_INSTANTIATE(int64_t)
TENSORD_INSTANTIATE(uint8_t)
TENSORD_INSTANTIATE(uint16_t)
TENSORD_INSTANTIATE(uint32_t)
TENSORD_INSTANTIATE(uint64_t)

}  // namespace tensord
