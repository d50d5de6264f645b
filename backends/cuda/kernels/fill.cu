// Operators whose elements follow from where they are: ConstantOfShape,
// EyeLike, Range, OneHot, Shape, Size.
//
//   ConstantOfShape  y[i] = the node's value
//   EyeLike          y[r, c] = 1 if c is r + k, else 0
//   Range            y[i] = start + i * delta
//   OneHot           y[o, d, i] = values[1] if d is indices[o, i] (from the end
//                    when below 0), else values[0]
//   Shape, Size      what the layout of x says; x itself is not read
//
// y is contiguous and no input's buffer. Shapes say all that the host needs:
// start, delta, indices and values are read on the device. Range computes in
// the elements' own type, 16-bit floats in float32. A OneHot index outside of
// [-depth, depth) is on nowhere; a fractional one counts by its integer part.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backends/api/axis_view.h"
#include "backends/api/host_arguments.h"
#include "backends/api/kernel.h"
#include "backends/cuda/kernels/element.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

__device__ int64_t GridThread() {
  return int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ int64_t GridThreads() { return int64_t{gridDim.x} * blockDim.x; }

template <typename Element>
__global__ void FillAll(Element value, Element* y, int64_t count) {
  for (int64_t i = GridThread(); i < count; i += GridThreads()) y[i] = value;
}

template <typename T>
__global__ void FillDiagonal(T* y, int64_t rows, int64_t columns, int64_t k) {
  for (int64_t i = GridThread(); i < rows * columns; i += GridThreads()) {
    y[i] = Convert<T>(i % columns - i / columns == k ? 1 : 0);
  }
}

template <typename T>
__global__ void FillRange(const T* start, const T* delta, T* y, int64_t count) {
  using W = Wrapping<T>;
  const auto first = static_cast<W>(ToCompute(*start));
  const auto step = static_cast<W>(ToCompute(*delta));
  for (int64_t i = GridThread(); i < count; i += GridThreads()) {
    y[i] = Convert<T>(first + static_cast<W>(i) * step);
  }
}

template <typename Element, typename Index>
__global__ void FillOneHot(const Index* indices, const Element* values,
                           Element* y, int64_t depth, int64_t inner,
                           int64_t count) {
  const Element off = values[0];
  const Element on = values[1];
  for (int64_t i = GridThread(); i < count; i += GridThreads()) {
    const int64_t d = i / inner % depth;
    const int64_t at = i / inner / depth * inner + i % inner;
    int64_t index = Convert<int64_t>(indices[at]);
    if (index < 0) index += depth;
    y[i] = index == d ? on : off;
  }
}

struct Numbers {
  int count;
  int64_t values[kMaxRank];
};
__global__ void WriteNumbers(Numbers numbers, int64_t* y) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < numbers.count) y[i] = numbers.values[i];
}

template <int kBytes>
absl::Status RunConstantOfShape(const KernelCall& call) {
  using Element = ElementOf<kBytes>;
  const uint64_t bits = std::get<FillParams>(call.params).bits;
  Element value;
  std::memcpy(&value, &bits, sizeof(value));
  const int64_t count = call.output_layout(0).shape.element_count();
  return Launch(call.context, FillAll<Element>, ForElements(count), value,
                call.output<Element>(0), count);
}

template <typename T>
absl::Status RunEyeLike(const KernelCall& call) {
  const Shape& shape = call.output_layout(0).shape;
  // Past the matrix every diagonal is alike.
  const int64_t k = std::clamp(std::get<EyeLikeParams>(call.params).diagonal,
                               -shape[0] - 1, shape[1] + 1);
  return Launch(call.context, FillDiagonal<T>,
                ForElements(shape.element_count()), call.output<T>(0), shape[0],
                shape[1], k);
}

template <typename T>
absl::Status RunRange(const KernelCall& call) {
  const int64_t count = call.output_layout(0).shape.element_count();
  return Launch(call.context, FillRange<T>, ForElements(count),
                call.input<T>(0), call.input<T>(2), call.output<T>(0), count);
}

template <int kBytes, typename Index>
absl::Status RunOneHot(const KernelCall& call) {
  using Element = ElementOf<kBytes>;
  const Shape& shape = call.output_layout(0).shape;
  const AxisView y(shape, std::get<AxisParams>(call.params).axis);
  return Launch(call.context, FillOneHot<Element, Index>,
                ForElements(shape.element_count()), call.input<Index>(0),
                call.input<Element>(2), call.output<Element>(0), y.extent,
                y.inner, shape.element_count());
}

absl::Status EnqueueNumbers(const KernelCall& call, const Numbers& numbers) {
  if (numbers.count == 0) return absl::OkStatus();
  return Launch(call.context, WriteNumbers, {dim3(1), dim3(32)}, numbers,
                call.output<int64_t>(0));
}

absl::Status RunShape(const KernelCall& call) {
  const Shape& shape = call.input_layout(0).shape;
  const int64_t start = std::get<ShapeParams>(call.params).start;
  const int64_t rank = shape.rank();
  const int64_t first =
      std::clamp<int64_t>(start < 0 ? start + rank : start, 0, rank);
  Numbers numbers = {};
  numbers.count = static_cast<int>(call.output_layout(0).shape.element_count());
  std::copy_n(shape.extents().begin() + first, numbers.count, numbers.values);
  return EnqueueNumbers(call, numbers);
}

absl::Status RunSize(const KernelCall& call) {
  return EnqueueNumbers(
      call, Numbers{1, {call.input_layout(0).shape.element_count()}});
}

absl::Status AcceptsBytes(const NodeSite& site) {
  if (site.input_dtype(0) != DType::kString) return absl::OkStatus();
  return absl::UnimplementedError("strings have no bytes on a device");
}

// x is not read.
KernelCost NumbersCost(const NodeSite&) { return {.bytes = 64}; }

KernelCost FillCost(const NodeSite& site) {
  return {.bytes = static_cast<double>(ByteSize(
              site.output_dtype(0), site.output(0).shape.element_count()))};
}

#define CONSTANT_OF_SHAPE(dtype, bytes, suffix, ...)                    \
  TENSORD_CUDA_ROW(ConstantOfShape, "constant_of_shape_" suffix,        \
                   (Takes({DType::kInt64}, {DType::dtype})), "fill.cu", \
                   .cost = &FillCost, .run = &RunConstantOfShape<bytes>)
#define EYE_LIKE(T, dtype, suffix, ...)                                     \
  TENSORD_CUDA_ROW(EyeLike, "eye_like_" suffix,                             \
                   (Takes({DType::kUndefined}, {DType::dtype})), "fill.cu", \
                   .cost = &FillCost, .run = &RunEyeLike<T>)
#define RANGE(T, dtype, suffix, ...)                                     \
  TENSORD_CUDA_ROW(Range, "range_" suffix, All(DType::dtype), "fill.cu", \
                   .cost = &FillCost, .run = &RunRange<T>)
#define ONE_HOT(dtype, bytes, suffix, Index, index, index_suffix)          \
  TENSORD_CUDA_ROW(OneHot, "one_hot_" suffix "_" index_suffix,             \
                   (Takes({DType::index, DType::kUndefined, DType::dtype}, \
                          {DType::dtype})),                                \
                   "fill.cu", .cost = &FillCost,                           \
                   .run = &RunOneHot<bytes, Index>)

constexpr KernelEntry kRows[] = {
    TENSORD_CUDA_BYTES(CONSTANT_OF_SHAPE),
    TENSORD_CUDA_FLOATS(EYE_LIKE),
    TENSORD_CUDA_INTEGERS(EYE_LIKE),
    EYE_LIKE(bool, kBool, "bool"),
    TENSORD_CUDA_FLOATS(RANGE),
    RANGE(int16_t, kInt16, "i16"),
    RANGE(int32_t, kInt32, "i32"),
    RANGE(int64_t, kInt64, "i64"),
    TENSORD_CUDA_BYTES(ONE_HOT, int32_t, kInt32, "i32"),
    TENSORD_CUDA_BYTES(ONE_HOT, int64_t, kInt64, "i64"),
    TENSORD_CUDA_BYTES(ONE_HOT, float, kFloat32, "f32"),
    TENSORD_CUDA_BYTES(ONE_HOT, __half, kFloat16, "f16"),
    TENSORD_CUDA_ROW(Shape, "shape_any", AnyDTypes(), "fill.cu",
                     .accepts = &AcceptsBytes, .cost = &NumbersCost,
                     .run = &RunShape),
    TENSORD_CUDA_ROW(Size, "size_any", AnyDTypes(), "fill.cu",
                     .accepts = &AcceptsBytes, .cost = &NumbersCost,
                     .run = &RunSize),
};

}  // namespace

absl::Span<const KernelEntry> FillRows() { return kRows; }

}  // namespace tensord::cuda
