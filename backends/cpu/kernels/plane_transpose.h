#ifndef TENSORD_BACKENDS_CPU_KERNELS_PLANE_TRANSPOSE_H_
#define TENSORD_BACKENDS_CPU_KERNELS_PLANE_TRANSPOSE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

// Transposing matrices of float32: an image whose channels come first is the
// transpose of one whose channels come last.
//
// Everything is in this header, so that a kernel's revision covers it.
namespace tensord {

// Four rows of four elements, in vectors that every machine has.
inline void Transpose4x4(const float* from, int64_t from_stride, float* to,
                         int64_t to_stride) {
  typedef float Vector __attribute__((vector_size(16)));
  Vector rows[4];
  for (int i = 0; i < 4; ++i) {
    std::memcpy(&rows[i], from + i * from_stride, sizeof(Vector));
  }
  const Vector low01 = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  const Vector high01 = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  const Vector low23 = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  const Vector high23 = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  const Vector columns[4] = {
      __builtin_shufflevector(low01, low23, 0, 1, 4, 5),
      __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
      __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
      __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i) {
    std::memcpy(to + i * to_stride, &columns[i], sizeof(Vector));
  }
}

// to[c * to_stride + r] = from[r * from_stride + c] for r below `rows` and c
// below `columns`; the two do not overlap. In strips of columns that take no
// more than a cache line of each row, so that a line is read once.
inline void TransposePlane(const float* from, int64_t from_stride, int64_t rows,
                           int64_t columns, float* to, int64_t to_stride) {
  constexpr int64_t kStrip = 16;
  for (int64_t strip = 0; strip < columns; strip += kStrip) {
    const int64_t end = std::min(strip + kStrip, columns);
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      int64_t c = strip;
      for (; c + 4 <= end; c += 4) {
        Transpose4x4(from + r * from_stride + c, from_stride,
                     to + c * to_stride + r, to_stride);
      }
      for (; c < end; ++c) {
        for (int64_t i = 0; i < 4; ++i) {
          to[c * to_stride + r + i] = from[(r + i) * from_stride + c];
        }
      }
    }
    for (; r < rows; ++r) {
      for (int64_t c = strip; c < end; ++c) {
        to[c * to_stride + r] = from[r * from_stride + c];
      }
    }
  }
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_PLANE_TRANSPOSE_H_
