#ifndef TENSORD_BACKENDS_CPU_KERNELS_GEMM_ADDEND_H_
#define TENSORD_BACKENDS_CPU_KERNELS_GEMM_ADDEND_H_

#include <cstdint>

#include "backends/api/kernel.h"
#include "backends/cpu/kernels/wrapping.h"

namespace tensord {

// What Gemm adds to the product: beta * c[row, column], c broadcast.
template <typename T>
struct Addend {
  using U = Wrapping<T>;
  const T* c = nullptr;  // null: nothing is added
  int64_t row_stride = 0;
  int64_t column_stride = 0;
  U beta = 0;

  explicit Addend(const KernelCall& call) {
    const float given_beta = std::get<GemmParams>(call.params).beta;
    if (!call.has_input(2) || given_beta == 0) return;
    c = call.input<T>(2);
    beta = static_cast<U>(given_beta);
    const Shape& shape = call.input_layout(2).shape;
    const int rank = shape.rank();
    if (rank >= 1 && shape[rank - 1] != 1) column_stride = 1;
    if (rank == 2 && shape[0] != 1) row_stride = shape[1];
  }

  U at(int64_t row, int64_t column) const {
    if (c == nullptr) return 0;
    return beta * static_cast<U>(c[row * row_stride + column * column_stride]);
  }
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_GEMM_ADDEND_H_
