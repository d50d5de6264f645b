#version 460
// CumSum and CumProd along one dimension, an invocation a line of x
// [outer, extent, inner].
#include "common.glsl"

layout(constant_id = 1) const uint DTYPE = FLOAT32;
layout(constant_id = 2) const uint IS_PRODUCT = 0;
layout(constant_id = 3) const uint IS_EXCLUSIVE = 0;
layout(constant_id = 4) const uint IS_REVERSE = 0;

layout(push_constant, scalar) uniform Arguments {
  uint64_t x, y;
  uint lines;
  uint extent;
  uint inner;
};

void main() {
  for (GRID_STRIDE(line, lines)) {
    const uint first = line / inner * extent * inner + line % inner;
    float total = IS_PRODUCT != 0 ? 1.0 : 0.0;
    int64_t integer = int64_t(IS_PRODUCT != 0 ? 1 : 0);
    for (uint c = 0; c < extent; ++c) {
      const uint at =
          first + (IS_REVERSE != 0 ? extent - 1 - c : c) * inner;
      if (IsFloat(DTYPE)) {
        const float value = LoadFloat(DTYPE, x, at);
        const float next = IS_PRODUCT != 0 ? total * value : total + value;
        StoreFloat(DTYPE, y, at, IS_EXCLUSIVE != 0 ? total : next);
        total = next;
      } else {
        const int64_t value = LoadInteger(DTYPE, x, at);
        const int64_t next =
            IS_PRODUCT != 0 ? integer * value : integer + value;
        StoreInteger(DTYPE, y, at, IS_EXCLUSIVE != 0 ? integer : next);
        integer = next;
      }
    }
  }
}
