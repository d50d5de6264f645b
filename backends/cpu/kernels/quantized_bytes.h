#ifndef TENSORD_BACKENDS_CPU_KERNELS_QUANTIZED_BYTES_H_
#define TENSORD_BACKENDS_CPU_KERNELS_QUANTIZED_BYTES_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

// Operands of 8-bit integers, whatever their sign: so that one compiled product
// serves int8 by uint8, int8 by int8 and so on.
//
// Everything is in this header, so that a kernel's revision covers it.
namespace tensord {

// Elements of int8 or uint8. A signed one with its highest bit turned around is
// itself plus 128, as an unsigned one.
struct QuantizedBytes {
  const uint8_t* elements = nullptr;
  uint8_t flip = 0;
  int16_t bias = 0;  // what the flipped bits are above the value

  template <typename T>
  static QuantizedBytes Of(const T* elements) {
    static_assert(sizeof(T) == 1);
    const auto* bytes = reinterpret_cast<const uint8_t*>(elements);
    if constexpr (std::is_signed_v<T>) return {bytes, 0x80, 128};
    return {bytes, 0, 0};
  }

  bool is_present() const { return elements != nullptr; }
  int16_t at(int64_t i) const {
    return static_cast<int16_t>((elements[i] ^ flip) - bias);
  }
};

// Rows of a row-major A [., row_stride], less zero(row), as panels of pairs for
// integer_gemm.
template <typename Zero>
void PackByteRows(const QuantizedBytes& a, int64_t row_stride, int64_t m0,
                  int64_t count, int64_t k0, int64_t depth, int panel_rows,
                  Zero zero, int16_t* panels) {
  const int64_t pairs = (depth + 1) / 2;
  for (int64_t first = 0; first < count; first += panel_rows) {
    const int64_t rows = std::min<int64_t>(panel_rows, count - first);
    std::fill_n(panels, pairs * panel_rows * 2, int16_t{0});
    for (int64_t r = 0; r < rows; ++r) {
      const uint8_t* source = a.elements + (m0 + first + r) * row_stride + k0;
      const auto shift = static_cast<int16_t>(a.bias + zero(m0 + first + r));
      int16_t* out = panels + 2 * r;
      for (int64_t t = 0; t < depth; ++t) {
        out[t / 2 * 2 * panel_rows + t % 2] =
            static_cast<int16_t>((source[t] ^ a.flip) - shift);
      }
    }
    panels += pairs * panel_rows * 2;
  }
}

// Columns of a row-major B [., row_stride], less zero(column).
template <typename Zero>
void PackByteColumns(const QuantizedBytes& b, int64_t row_stride, int64_t n0,
                     int64_t count, int64_t k0, int64_t depth,
                     int panel_columns, Zero zero, int16_t* panels) {
  constexpr int kMaxPanelColumns = 32;
  const int64_t pairs = (depth + 1) / 2;
  for (int64_t first = 0; first < count; first += panel_columns) {
    const int64_t columns = std::min<int64_t>(panel_columns, count - first);
    int16_t shifts[kMaxPanelColumns];
    for (int64_t j = 0; j < columns; ++j) {
      shifts[j] = static_cast<int16_t>(b.bias + zero(n0 + first + j));
    }
    if (columns < panel_columns || depth % 2 != 0) {
      std::fill_n(panels, pairs * panel_columns * 2, int16_t{0});
    }
    for (int64_t t = 0; t < depth; ++t) {
      const uint8_t* source = b.elements + (k0 + t) * row_stride + n0 + first;
      int16_t* out = panels + t / 2 * 2 * panel_columns + t % 2;
      for (int64_t j = 0; j < columns; ++j) {
        out[2 * j] = static_cast<int16_t>((source[j] ^ b.flip) - shifts[j]);
      }
    }
    panels += pairs * panel_columns * 2;
  }
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_QUANTIZED_BYTES_H_
