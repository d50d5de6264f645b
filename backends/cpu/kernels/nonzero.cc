// NonZero.
//
//   y[d, k] = index along dimension d of the k-th element of x that is not zero
//
// x is contiguous. y is int64 [rank, count], written densely for the real
// count; its storage has room for the bound. Its extents go to the cells. A
// scalar has no dimension, so y is [0, count] and has no elements. -0.0 is
// zero; a NaN is not.

#include <array>
#include <cstdint>

#include "backends/api/float16.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/extent_cells.h"

namespace tensord {
namespace {

template <typename T>
bool IsNonZero(T x) {
  return static_cast<ComputeType<T>>(x) != ComputeType<T>{0};
}

}  // namespace

template <typename T>
absl::Status RunNonZero(const KernelCall& call) {
  const T* x = call.input<T>(0);
  const Shape& shape = call.input_layout(0).shape;
  const int rank = shape.rank();
  const int64_t elements = shape.element_count();

  int64_t count = 0;
  for (int64_t i = 0; i < elements; ++i) count += IsNonZero(x[i]) ? 1 : 0;
  ExtentCells(call.context).Write({rank, count});
  if (rank == 0) return absl::OkStatus();

  int64_t* y = call.output<int64_t>(0);
  std::array<int64_t, kMaxRank> index{};
  int64_t k = 0;
  for (int64_t i = 0; k < count; ++i) {
    if (IsNonZero(x[i])) {
      for (int d = 0; d < rank; ++d) y[d * count + k] = index[d];
      ++k;
    }
    for (int d = rank - 1; d >= 0 && ++index[d] == shape[d]; --d) index[d] = 0;
  }
  return absl::OkStatus();
}

template absl::Status RunNonZero<float>(const KernelCall&);
template absl::Status RunNonZero<double>(const KernelCall&);
template absl::Status RunNonZero<Float16>(const KernelCall&);
template absl::Status RunNonZero<BFloat16>(const KernelCall&);
template absl::Status RunNonZero<int8_t>(const KernelCall&);
template absl::Status RunNonZero<int16_t>(const KernelCall&);
template absl::Status RunNonZero<int32_t>(const KernelCall&);
template absl::Status RunNonZero<int64_t>(const KernelCall&);
template absl::Status RunNonZero<uint8_t>(const KernelCall&);
template absl::Status RunNonZero<uint16_t>(const KernelCall&);
template absl::Status RunNonZero<uint32_t>(const KernelCall&);
template absl::Status RunNonZero<uint64_t>(const KernelCall&);
template absl::Status RunNonZero<bool>(const KernelCall&);

}  // namespace tensord
