#version 460
// y[n, c, i] = (x[n, c, i] - mean[c]) * (scale[c] / sqrt(variance[c] + epsilon))
//              + bias[c]
#include "common.glsl"

layout(constant_id = 1) const uint DTYPE = FLOAT32;
layout(constant_id = 2) const uint SCALE_DTYPE = FLOAT32;       // and bias
layout(constant_id = 3) const uint STATISTICS_DTYPE = FLOAT32;  // and variance

layout(push_constant, scalar) uniform Arguments {
  uint64_t x, scale, bias, mean, variance, y;
  uint count;
  uint channels;
  uint inner;
  float epsilon;
};

void main() {
  for (GRID_STRIDE(i, count)) {
    const uint c = i / inner % channels;
    const float factor =
        LoadFloat(SCALE_DTYPE, scale, c) /
        sqrt(LoadFloat(STATISTICS_DTYPE, variance, c) + epsilon);
    const float offset = LoadFloat(SCALE_DTYPE, bias, c) -
                         LoadFloat(STATISTICS_DTYPE, mean, c) * factor;
    StoreFloat(DTYPE, y, i, LoadFloat(DTYPE, x, i) * factor + offset);
  }
}
