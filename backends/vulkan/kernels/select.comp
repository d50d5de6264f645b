#version 460
// Where and Clip, of elements that are only chosen: y[i] is one of the operands'
// elements at i.
//
//   Where  y[i] = c[i] ? a[i] : b[i], all broadcast to y's shape
//   Clip   y[i] = min(max(a[i], low), high); both bounds have one element, of
//          a's dtype or of float32, or are absent. A NaN stays.
#include "common.glsl"

layout(constant_id = 1) const uint DTYPE = FLOAT32;
layout(constant_id = 2) const uint IS_CLIP = 0;
layout(constant_id = 3) const uint LOW_DTYPE = FLOAT32;
layout(constant_id = 4) const uint HIGH_DTYPE = FLOAT32;
layout(constant_id = 5) const uint BYTES = 4;

const uint MOST_DIMENSIONS = 5;
struct Dimension {
  uint extent;
  uint strides[3];
};

layout(push_constant, scalar) uniform Arguments {
  uint64_t c, a, b, y;  // Clip: low, a, high, y
  uint count;
  uint rank;
  Dimension dimensions[MOST_DIMENSIONS];  // the innermost first
};

#define CHOOSE(Elements)                                                    \
  Elements(y).at[i] = is_a ? Elements(a).at[at[1]] : Elements(b).at[at[2]]; \
  break;

void Where(uint i) {
  uint at[3] = uint[3](0, 0, 0);
  uint rest = i;
  for (uint d = 0; d < rank; ++d) {
    const uint index = d + 1 == rank ? rest : rest % dimensions[d].extent;
    rest /= dimensions[d].extent;
    for (uint k = 0; k < 3; ++k) at[k] += index * dimensions[d].strides[k];
  }
  const bool is_a = uint(UInt8s(c).at[at[0]]) != 0;
  switch (BYTES) {
    case 1:
      CHOOSE(UInt8s)
    case 2:
      CHOOSE(UInt16s)
    case 4:
      CHOOSE(UInt32s)
    case 8:
      CHOOSE(UInt64s)
    default:
      CHOOSE(UInt128s)
  }
}

void ClipFloat(uint i) {
  float x = LoadFloat(DTYPE, a, i);
  if (c != 0) {
    const float low = LoadFloat(LOW_DTYPE, c, 0);
    if (x < low) x = low;
  }
  if (b != 0) {
    const float high = LoadFloat(HIGH_DTYPE, b, 0);
    if (high < x) x = high;
  }
  StoreFloat(DTYPE, y, i, x);
}

bool IsLess(int64_t p, int64_t q) {
  return IsUnsigned(DTYPE) ? uint64_t(p) < uint64_t(q) : p < q;
}

void ClipInteger(uint i) {
  int64_t x = LoadInteger(DTYPE, a, i);
  if (c != 0) {
    const int64_t low = LoadInteger(DTYPE, c, 0);
    if (IsLess(x, low)) x = low;
  }
  if (b != 0) {
    const int64_t high = LoadInteger(DTYPE, b, 0);
    if (IsLess(high, x)) x = high;
  }
  StoreInteger(DTYPE, y, i, x);
}

void main() {
  for (GRID_STRIDE(i, count)) {
    if (IS_CLIP == 0) {
      Where(i);
    } else if (IsFloat(DTYPE)) {
      ClipFloat(i);
    } else {
      ClipInteger(i);
    }
  }
}
