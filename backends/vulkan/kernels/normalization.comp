#version 460
// Rows of contiguous columns, brought to mean 0 and variance 1 (or root mean
// square 1), then scaled: LayerNormalization, RMSNormalization,
// GroupNormalization, InstanceNormalization. A work group a row.
#include "common.glsl"
#include "group_reduce.glsl"

layout(constant_id = 1) const uint DTYPE = FLOAT32;
layout(constant_id = 2) const uint SUBTRACTS_MEAN = 1;
layout(constant_id = 3) const uint HAS_SKIP = 0;
layout(constant_id = 4) const uint STATISTICS_DTYPE = FLOAT32;

layout(push_constant, scalar) uniform Arguments {
  uint64_t x, skip, scale, bias, y;
  uint64_t means, deviations;  // of rows; may be absent
  uint rows;
  uint columns;
  float epsilon;
  // Which element of scale and bias: row % groups * group_step
  //   + column / inner * column_step.
  uint groups, group_step, inner;
  uint scale_step, bias_step;
};

// The sum with the skip is rounded, as the operator ahead of it would.
float At(uint i) {
  const float value = LoadFloat(DTYPE, x, i);
  if (HAS_SKIP == 0) return value;
  const float sum = value + LoadFloat(DTYPE, skip, i);
  if (DTYPE == FLOAT16) return unpackHalf2x16(uint(ToFloat16(sum))).x;
  if (DTYPE == BFLOAT16) return uintBitsToFloat(uint(ToBFloat16(sum)) << 16);
  return sum;
}

void main() {
  const uint me = gl_LocalInvocationID.x;
  for (uint row = gl_WorkGroupID.x; row < rows; row += gl_NumWorkGroups.x) {
    const uint first = row * columns;
    float mean = 0.0;
    if (SUBTRACTS_MEAN != 0) {
      float sum = 0.0;
      for (uint c = me; c < columns; c += WIDTH) sum += At(first + c);
      mean = GroupSum(sum) / float(columns);
    }
    float squares = 0.0;
    for (uint c = me; c < columns; c += WIDTH) {
      const float centred = At(first + c) - mean;
      squares += centred * centred;
    }
    const float variance = GroupSum(squares) / float(columns);
    const float inverse = 1.0 / sqrt(variance + epsilon);
    const uint own = row % groups * group_step;
    for (uint c = me; c < columns; c += WIDTH) {
      float value = (At(first + c) - mean) * inverse;
      const uint at = own + c / inner;
      value *= LoadFloat(DTYPE, scale, at * scale_step);
      if (bias != 0) value += LoadFloat(DTYPE, bias, at * bias_step);
      StoreFloat(DTYPE, y, first + c, value);
    }
    if (me == 0 && means != 0) StoreFloat(STATISTICS_DTYPE, means, row, mean);
    if (me == 0 && deviations != 0) {
      StoreFloat(STATISTICS_DTYPE, deviations, row, inverse);
    }
  }
}
