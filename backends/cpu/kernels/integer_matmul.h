#ifndef TENSORD_BACKENDS_CPU_KERNELS_INTEGER_MATMUL_H_
#define TENSORD_BACKENDS_CPU_KERNELS_INTEGER_MATMUL_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "backends/api/host_services.h"
#include "backends/api/shape.h"
#include "backends/cpu/kernels/integer_gemm.h"
#include "backends/cpu/kernels/quantized_bytes.h"

// Matrix products of 8-bit integers with int32 sums, shared by MatMulInteger
// and QLinearMatMul. Shapes are as numpy.matmul's.
//
// Everything is in this header, so that a kernel's revision covers it.
namespace tensord {

// Which element of a zero point or scale belongs to a line (a row of a, a
// column of b): the one, that of the line in its matrix, or that of the line
// among those of all matrices.
struct LineIndex {
  bool is_one = true;
  bool is_vector = false;

  static LineIndex Of(const Shape& shape) {
    return {shape.element_count() == 1, shape.rank() == 1};
  }
  int64_t at(int64_t line, int64_t first_line) const {
    if (is_one) return 0;
    return is_vector ? line : first_line + line;
  }
};

struct IntegerMatMul {
  int64_t m = 1, n = 1, k = 1;
  int64_t batch = 1;
  int batch_rank = 0;
  std::array<int64_t, kMaxRank> extents;
  // In matrices, for each dimension of the batch.
  std::array<int64_t, kMaxRank> a_strides;
  std::array<int64_t, kMaxRank> b_strides;

  QuantizedBytes a;
  QuantizedBytes b;
  // Absent for 0.
  QuantizedBytes a_zeros;
  QuantizedBytes b_zeros;
  LineIndex a_zero_index;
  LineIndex b_zero_index;

  IntegerMatMul(const Shape& a_shape, const Shape& b_shape) {
    m = a_shape.rank() == 1 ? 1 : a_shape[a_shape.rank() - 2];
    k = a_shape[a_shape.rank() - 1];
    n = b_shape.rank() == 1 ? 1 : b_shape[b_shape.rank() - 1];
    const int a_batch = std::max(a_shape.rank() - 2, 0);
    const int b_batch = std::max(b_shape.rank() - 2, 0);
    batch_rank = std::max(a_batch, b_batch);
    int64_t a_stride = 1;
    int64_t b_stride = 1;
    for (int i = 1; i <= batch_rank; ++i) {
      const int d = batch_rank - i;
      const int64_t a_extent = i <= a_batch ? a_shape[a_batch - i] : 1;
      const int64_t b_extent = i <= b_batch ? b_shape[b_batch - i] : 1;
      extents[d] = a_extent == 1 ? b_extent : a_extent;
      a_strides[d] = a_extent == 1 ? 0 : a_stride;
      b_strides[d] = b_extent == 1 ? 0 : b_stride;
      batch *= extents[d];
      a_stride *= a_extent;
      b_stride *= b_extent;
    }
  }

  // The matrices of one index of the batch, by number.
  struct Matrices {
    int64_t a = 0;
    int64_t b = 0;
  };
  Matrices At(int64_t index) const {
    Matrices matrices;
    for (int d = batch_rank - 1; d >= 0; --d) {
      matrices.a += index % extents[d] * a_strides[d];
      matrices.b += index % extents[d] * b_strides[d];
      index /= extents[d];
    }
    return matrices;
  }

  int a_zero(const Matrices& matrices, int64_t row) const {
    if (!a_zeros.is_present()) return 0;
    return a_zeros.at(a_zero_index.at(row, matrices.a * m));
  }
  int b_zero(const Matrices& matrices, int64_t column) const {
    if (!b_zeros.is_present()) return 0;
    return b_zeros.at(b_zero_index.at(column, matrices.b * n));
  }

  // Calls store(index, row, column, count, sums) for stretches of y's rows,
  // `index` counting the batch: sums[i] belongs to column + i.
  template <typename Store>
  void Run(WorkerPool& workers, Store store) const {
    if (m <= kMaxFewRows) {
      RunRows(workers, store);
    } else {
      RunTiles(workers, store);
    }
  }

 private:
  // With at most so many rows b is read once, in place, and so many columns of
  // it at a time.
  static constexpr int64_t kMaxFewRows = 4;
  static constexpr int64_t kStretch = 1024;

  // sums[j] += factor * (b[j] ^ flip), in pieces that vectorise.
  [[gnu::always_inline]] static inline void AddScaledRow(const uint8_t* b,
                                                         uint8_t flip,
                                                         uint32_t factor,
                                                         int64_t count,
                                                         uint32_t* sums) {
    constexpr int kPiece = 32;
    int64_t j = 0;
    for (; j + kPiece <= count; j += kPiece) {
      for (int i = 0; i < kPiece; ++i) {
        sums[j + i] += factor * static_cast<uint32_t>(b[j + i] ^ flip);
      }
    }
    for (; j < count; ++j)
      sums[j] += factor * static_cast<uint32_t>(b[j] ^ flip);
  }
  static void AddScaledPortable(const uint8_t* b, uint8_t flip, uint32_t factor,
                                int64_t count, uint32_t* sums) {
    AddScaledRow(b, flip, factor, count, sums);
  }
#if defined(__x86_64__)
  __attribute__((target("avx2"))) static void AddScaledAvx2(const uint8_t* b,
                                                            uint8_t flip,
                                                            uint32_t factor,
                                                            int64_t count,
                                                            uint32_t* sums) {
    AddScaledRow(b, flip, factor, count, sums);
  }
#endif

  template <typename Store>
  void RunRows(WorkerPool& workers, Store store) const {
    auto* add_scaled = &AddScaledPortable;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) add_scaled = &AddScaledAvx2;
#endif
    const int64_t stretches = (n + kStretch - 1) / kStretch;
    workers.ParallelFor(batch * stretches, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Matrices at = At(i / stretches);
        const int64_t column = i % stretches * kStretch;
        const int64_t count = std::min(kStretch, n - column);
        const uint8_t* b_column = b.elements + at.b * k * n + column;
        // Unsigned, since sums may wrap around.
        uint32_t sums[kMaxFewRows][kStretch] = {};
        uint32_t a_sums[kMaxFewRows] = {};
        for (int64_t t = 0; t < k; ++t) {
          for (int64_t row = 0; row < m; ++row) {
            const auto factor = static_cast<uint32_t>(
                a.at((at.a * m + row) * k + t) - a_zero(at, row));
            add_scaled(b_column + t * n, b.flip, factor, count, sums[row]);
            a_sums[row] += factor;
          }
        }
        // What the flipped elements are above b - zero, times the row.
        int32_t signed_sums[kStretch];
        for (int64_t row = 0; row < m; ++row) {
          for (int64_t j = 0; j < count; ++j) {
            const auto above =
                static_cast<uint32_t>(b.bias + b_zero(at, column + j));
            signed_sums[j] =
                static_cast<int32_t>(sums[row][j] - above * a_sums[row]);
          }
          store(i / stretches, row, column, count, signed_sums);
        }
      }
    });
  }

  template <typename Store>
  void RunTiles(WorkerPool& workers, Store store) const {
    const integer_gemm::Machine machine = integer_gemm::ThisMachine();
    integer_gemm::ForTiles(
        workers, batch, m, n,
        [&](int64_t index, int64_t m0, int64_t m1, int64_t n0, int64_t n1) {
          const Matrices at = At(index);
          QuantizedBytes a_matrix = a;
          a_matrix.elements += at.a * m * k;
          QuantizedBytes b_matrix = b;
          b_matrix.elements += at.b * k * n;
          integer_gemm::MultiplyTile(
              machine, k, m0, m1, n0, n1,
              [&](int64_t first, int64_t count, int64_t k0, int64_t depth,
                  int16_t* panels) {
                PackByteRows(
                    a_matrix, k, first, count, k0, depth, machine.rows,
                    [&](int64_t row) { return a_zero(at, row); }, panels);
              },
              [&](int64_t first, int64_t count, int64_t k0, int64_t depth,
                  int16_t* panels) {
                PackByteColumns(
                    b_matrix, n, first, count, k0, depth, machine.columns,
                    [&](int64_t column) { return b_zero(at, column); }, panels);
              },
              [&](int64_t row, const int32_t* sums) {
                store(index, row, n0, n1 - n0, sums);
              });
        });
  }
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_INTEGER_MATMUL_H_
