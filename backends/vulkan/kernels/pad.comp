#version 460
// Pad: y[i] = x[i - begins], and outside of x a constant, or an element of x by
// the mode.
#include "common.glsl"

layout(constant_id = 1) const uint BYTES = 4;
layout(constant_id = 2) const uint MODE = 0;

const uint CONSTANT = 0, REFLECT = 1, EDGE = 2, WRAP = 3;

const uint MOST_DIMENSIONS = 8;
struct Dimension {  // the innermost first
  uint extent;      // of y
  int own;          // of x
  int begin;        // elements ahead of x; below 0 some of x are left out
  uint stride;      // of x
};
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer
    PadTable {
  uint rank;
  Dimension dimensions[MOST_DIMENSIONS];
};

layout(push_constant, scalar) uniform Arguments {
  uint64_t x;
  uint64_t value;  // one element; absent: zeros
  uint64_t y;
  uint64_t table;
  uint count;
};

#define PICK(Elements, zero)                                            \
  Elements(y).at[i] = is_inside      ? Elements(x).at[from]             \
                      : value != 0   ? Elements(value).at[0]            \
                                     : zero;                            \
  break;

int Modulo(int a, int by) {
  const int rest = a - a / by * by;
  return rest < 0 ? rest + by : rest;
}

void main() {
  PadTable of = PadTable(table);
  for (GRID_STRIDE(i, count)) {
    bool is_inside = true;
    uint from = 0;
    uint rest = i;
    for (uint d = 0; d < of.rank; ++d) {
      const Dimension dimension = of.dimensions[d];
      int at = int(rest % dimension.extent) - dimension.begin;
      rest /= dimension.extent;
      const int own = dimension.own;
      if (at < 0 || at >= own) {
        if (MODE == CONSTANT) {
          is_inside = false;
        } else if (MODE == EDGE) {
          at = clamp(at, 0, own - 1);
        } else if (MODE == WRAP) {
          at = Modulo(at, own);
        } else if (own == 1) {
          at = 0;
        } else {
          const int period = 2 * (own - 1);
          at = Modulo(at, period);
          if (at >= own) at = period - at;
        }
      }
      if (is_inside) from += uint(at) * dimension.stride;
    }
    switch (BYTES) {
      case 1:
        PICK(UInt8s, uint8_t(0))
      case 2:
        PICK(UInt16s, uint16_t(0))
      case 4:
        PICK(UInt32s, 0u)
      default:
        PICK(UInt64s, uint64_t(0))
    }
  }
}
