#version 460
// Resize and Upsample: each output is a sum over taps of every dimension that
// changes, whose places and weights are in tables made ahead of the run.
#include "common.glsl"

layout(constant_id = 1) const uint DTYPE = FLOAT32;
layout(constant_id = 2) const uint BYTES = 4;
layout(constant_id = 3) const uint IS_NEAREST = 0;

const uint MOST_PASSES = 4;
const uint STAYS = 0xffffffffu;
const uint MOST_DIMENSIONS = 8;

struct Dimension {  // the innermost first
  uint extent;      // of y
  uint stride;      // of x
  uint pass;        // or STAYS
};
struct Pass {
  uint taps;
  uint stride;   // of x
  uint indices;  // [extent of y, taps]: the first one's number in `numbers`
  uint weights;  // the same in `weights`
};
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer
    ResizeTable {
  uint rank;
  Dimension dimensions[MOST_DIMENSIONS];
  Pass passes[MOST_PASSES];
};

layout(push_constant, scalar) uniform Arguments {
  uint64_t x, y;
  uint64_t table;
  uint64_t numbers;
  uint64_t weights;
  uint count;
};

#define PICK(Elements)                               \
  Elements(y).at[i] = Elements(x).at[from];          \
  break;

void main() {
  ResizeTable of = ResizeTable(table);
  for (GRID_STRIDE(i, count)) {
    uint rows[MOST_PASSES] = uint[4](0, 0, 0, 0);
    uint first = 0;
    uint rest = i;
    for (uint d = 0; d < of.rank; ++d) {
      const Dimension dimension = of.dimensions[d];
      const uint index = rest % dimension.extent;
      rest /= dimension.extent;
      if (dimension.pass == STAYS) {
        first += index * dimension.stride;
      } else {
        rows[dimension.pass] = index;
      }
    }
    if (IS_NEAREST != 0) {
      uint from = first;
      for (uint p = 0; p < MOST_PASSES; ++p) {
        if (of.passes[p].taps == 0) continue;
        from += UInt32s(numbers).at[of.passes[p].indices + rows[p]] *
                of.passes[p].stride;
      }
      switch (BYTES) {
        case 1:
          PICK(UInt8s)
        case 2:
          PICK(UInt16s)
        case 4:
          PICK(UInt32s)
        default:
          PICK(UInt64s)
      }
      continue;
    }
    // Nested in the order in which separate passes would be; pass 0 is the
    // innermost. One that is not there has no taps, and is gone through once.
    const uint taps[MOST_PASSES] =
        uint[4](max(of.passes[0].taps, 1u), max(of.passes[1].taps, 1u),
                max(of.passes[2].taps, 1u), max(of.passes[3].taps, 1u));
    uint offsets[MOST_PASSES];
    float factors[MOST_PASSES];
    float sums[MOST_PASSES] = float[4](0.0, 0.0, 0.0, 0.0);
    const uint all = taps[0] * taps[1] * taps[2] * taps[3];
    for (uint t = 0; t < all; ++t) {
      uint digits = t;
      uint from = first;
      for (uint p = 0; p < MOST_PASSES; ++p) {
        const uint k = digits % taps[p];
        digits /= taps[p];
        factors[p] = 1.0;
        if (of.passes[p].taps == 0) continue;
        const uint at = rows[p] * taps[p] + k;
        from += UInt32s(numbers).at[of.passes[p].indices + at] *
                of.passes[p].stride;
        factors[p] = Floats(weights).at[of.passes[p].weights + at];
      }
      const float value = IsFloat(DTYPE)
                              ? LoadFloat(DTYPE, x, from)
                              : float(LoadInteger(DTYPE, x, from));
      sums[0] += factors[0] * value;
      // The end of a pass' taps hands its sum to the pass around it.
      uint period = taps[0];
      for (uint p = 0; p + 1 < MOST_PASSES; ++p) {
        if ((t + 1) % period != 0) break;
        sums[p + 1] += factors[p + 1] * sums[p];
        sums[p] = 0.0;
        period *= taps[p + 1];
      }
    }
    const float result = sums[MOST_PASSES - 1];
    if (IsFloat(DTYPE)) {
      StoreFloat(DTYPE, y, i, result);
    } else {
      StoreInteger(DTYPE, y, i, Truncated(DTYPE, result));
    }
  }
}
