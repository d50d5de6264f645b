#version 460
// Cast: y[i] = x[i] in another dtype, both contiguous. A float becomes an
// integer by truncation, at most the type's limits, and a NaN 0; an integer is
// cut to the type's low bits. To bool, all but 0 are true.
#include "common.glsl"

layout(constant_id = 1) const uint FROM = FLOAT32;
layout(constant_id = 2) const uint TO = FLOAT32;

layout(push_constant, scalar) uniform Arguments {
  uint64_t x, y;
  uint count;
};

void main() {
  for (GRID_STRIDE(i, count)) {
    if (IsFloat(FROM)) {
      const float value = LoadFloat(FROM, x, i);
      if (IsFloat(TO)) {
        StoreFloat(TO, y, i, value);
      } else if (TO == BOOL) {
        StoreInteger(TO, y, i, int64_t(value != 0.0 ? 1 : 0));
      } else {
        StoreInteger(TO, y, i, Truncated(TO, value));
      }
    } else {
      const int64_t value = LoadInteger(FROM, x, i);
      if (TO == BOOL) {
        StoreInteger(TO, y, i, int64_t(value != 0 ? 1 : 0));
      } else if (IsFloat(TO)) {
        StoreFloat(TO, y, i,
                   FROM == UINT64 ? float(uint64_t(value)) : float(value));
      } else {
        StoreInteger(TO, y, i, value);
      }
    }
  }
}
