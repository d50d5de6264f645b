#ifndef TENSORD_BACKENDS_CPU_KERNELS_PLANE_TRANSPOSE_H_
#define TENSORD_BACKENDS_CPU_KERNELS_PLANE_TRANSPOSE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

// Transposing matrices of elements of 4 bytes: an image whose channels come
// first is the transpose of one whose channels come last.
//
// Everything is in this header, so that a kernel's revision covers it.
namespace tensord {

// Four rows of four elements, in vectors that every machine has.
template <typename Element>
void Transpose4x4(const Element* from, int64_t from_stride, Element* to,
                  int64_t to_stride) {
  static_assert(sizeof(Element) == 4);
  typedef Element Vector __attribute__((vector_size(16)));
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
// below `columns`; the two do not overlap. In squares of a cache line each way,
// so that a line is brought in once: along the rows where it is those of `to`
// that lie a power of two apart, and so push each other out of the cache, else
// along the columns.
template <typename Element>
void TransposePlane(const Element* from, int64_t from_stride, int64_t rows,
                    int64_t columns, Element* to, int64_t to_stride) {
  constexpr int64_t kLine = 16;
  const bool goes_along_rows = to_stride % 256 == 0;
  const auto square = [&](int64_t r, int64_t c) {
    Transpose4x4(from + r * from_stride + c, from_stride,
                 to + c * to_stride + r, to_stride);
  };
  const int64_t whole_rows = rows / 4 * 4;
  const int64_t whole_columns = columns / 4 * 4;
  for (int64_t c0 = 0; c0 < whole_columns; c0 += kLine) {
    const int64_t c1 = std::min(c0 + kLine, whole_columns);
    for (int64_t r0 = 0; r0 < whole_rows; r0 += kLine) {
      const int64_t r1 = std::min(r0 + kLine, whole_rows);
      if (goes_along_rows) {
        for (int64_t c = c0; c < c1; c += 4) {
          for (int64_t r = r0; r < r1; r += 4) square(r, c);
        }
      } else {
        for (int64_t r = r0; r < r1; r += 4) {
          for (int64_t c = c0; c < c1; c += 4) square(r, c);
        }
      }
    }
  }
  for (int64_t c = whole_columns; c < columns; ++c) {
    for (int64_t r = 0; r < whole_rows; ++r) {
      to[c * to_stride + r] = from[r * from_stride + c];
    }
  }
  for (int64_t r = whole_rows; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      to[c * to_stride + r] = from[r * from_stride + c];
    }
  }
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_PLANE_TRANSPOSE_H_
