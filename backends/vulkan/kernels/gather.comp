#version 460
// Gather: y[o, k, i] = x[o, indices[k], i]; everything is contiguous. An index
// below 0 counts from the end; one out of range gives zeros.
// GatherElements: y[p] = x[p with indices[p] along the axis].
#include "common.glsl"

layout(constant_id = 1) const uint BYTES = 4;
layout(constant_id = 2) const uint INDEX_DTYPE = INT64;
layout(constant_id = 3) const uint IS_BY_ELEMENT = 0;

const uint MOST_DIMENSIONS = 6;
struct Dimension {
  uint extent;  // of y
  uint stride;  // of x; 0 along the axis
};

layout(push_constant, scalar) uniform Arguments {
  uint64_t x, indices, y;
  uint count;
  uint inner;        // Gather: elements behind the axis; else its stride
  uint index_count;  // Gather: of indices
  uint extent;       // of x along the axis
  uint rank;
  Dimension dimensions[MOST_DIMENSIONS];  // the innermost first
};

#define PICK(Elements, zero)                                       \
  Elements(y).at[i] = is_there ? Elements(x).at[from] : zero;      \
  break;

void main() {
  for (GRID_STRIDE(i, count)) {
    uint base = 0;
    uint which = i;
    uint column = 0;
    if (IS_BY_ELEMENT != 0) {
      uint rest = i;
      for (uint d = 0; d < rank; ++d) {
        base += rest % dimensions[d].extent * dimensions[d].stride;
        rest /= dimensions[d].extent;
      }
    } else {
      column = i % inner;
      which = i / inner % index_count;
      base = i / inner / index_count * (extent * inner);
    }
    int64_t index = LoadInteger(INDEX_DTYPE, indices, which);
    if (index < 0) index += int64_t(extent);
    const bool is_there = index >= 0 && index < int64_t(extent);
    const uint from = base + uint(is_there ? index : int64_t(0)) * inner + column;
    switch (BYTES) {
      case 1:
        PICK(UInt8s, uint8_t(0))
      case 2:
        PICK(UInt16s, uint16_t(0))
      case 4:
        PICK(UInt32s, 0u)
      case 8:
        PICK(UInt64s, uint64_t(0))
      default:
        PICK(UInt128s, uvec4(0))
    }
  }
}
