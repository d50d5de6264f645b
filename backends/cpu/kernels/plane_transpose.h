#ifndef TENSORD_BACKENDS_CPU_KERNELS_PLANE_TRANSPOSE_H_
#define TENSORD_BACKENDS_CPU_KERNELS_PLANE_TRANSPOSE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

// Transposing matrices of elements of 4 bytes or of 1: an image whose channels
// come first is the transpose of one whose channels come last.
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

// Four rows of sixteen bytes.
inline void Transpose4x16(const uint8_t* from, int64_t from_stride, uint8_t* to,
                          int64_t to_stride) {
  typedef uint8_t Vector __attribute__((vector_size(16)));
  Vector rows[4];
  for (int i = 0; i < 4; ++i) {
    std::memcpy(&rows[i], from + i * from_stride, sizeof(Vector));
  }
  const auto low_bytes = [](Vector a, Vector b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
                                   21, 6, 22, 7, 23);
  };
  const auto high_bytes = [](Vector a, Vector b) {
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                   13, 29, 14, 30, 15, 31);
  };
  const auto low_pairs = [](Vector a, Vector b) {
    return __builtin_shufflevector(a, b, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20,
                                   21, 6, 7, 22, 23);
  };
  const auto high_pairs = [](Vector a, Vector b) {
    return __builtin_shufflevector(a, b, 8, 9, 24, 25, 10, 11, 26, 27, 12, 13,
                                   28, 29, 14, 15, 30, 31);
  };
  const Vector low01 = low_bytes(rows[0], rows[1]);
  const Vector low23 = low_bytes(rows[2], rows[3]);
  const Vector high01 = high_bytes(rows[0], rows[1]);
  const Vector high23 = high_bytes(rows[2], rows[3]);
  // Each has four columns of four bytes.
  const Vector columns[4] = {low_pairs(low01, low23), high_pairs(low01, low23),
                             low_pairs(high01, high23),
                             high_pairs(high01, high23)};
  uint8_t bytes[64];
  std::memcpy(bytes, columns, sizeof bytes);
  for (int c = 0; c < 16; ++c) {
    std::memcpy(to + c * to_stride, bytes + 4 * c, 4);
  }
}

// As TransposePlane, of bytes.
inline void TransposeBytes(const uint8_t* from, int64_t from_stride,
                           int64_t rows, int64_t columns, uint8_t* to,
                           int64_t to_stride) {
  const int64_t whole_rows = rows / 4 * 4;
  const int64_t whole_columns = columns / 16 * 16;
  for (int64_t c = 0; c < whole_columns; c += 16) {
    for (int64_t r = 0; r < whole_rows; r += 4) {
      Transpose4x16(from + r * from_stride + c, from_stride,
                    to + c * to_stride + r, to_stride);
    }
  }
  const auto rest = [&](int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
    for (int64_t c = c0; c < c1; ++c) {
      for (int64_t r = r0; r < r1; ++r) {
        to[c * to_stride + r] = from[r * from_stride + c];
      }
    }
  };
  rest(0, whole_rows, whole_columns, columns);
  rest(whole_rows, rows, 0, columns);
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_PLANE_TRANSPOSE_H_
