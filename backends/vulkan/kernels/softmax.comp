#version 460
// Softmax, LogSoftmax and Hardmax of rows: x and y are [outer, columns, inner],
// and may be one buffer. A work group a row.
#include "common.glsl"
#include "math.glsl"
#include "group_reduce.glsl"

layout(constant_id = 1) const uint DTYPE = FLOAT32;
layout(constant_id = 2) const uint KIND = 0;

const uint SOFTMAX = 0, LOG_SOFTMAX = 1, HARDMAX = 2;

layout(push_constant, scalar) uniform Arguments {
  uint64_t x, y;
  uint rows;
  uint columns;
  uint inner;
};

shared uint first_largest;

void main() {
  const uint me = gl_LocalInvocationID.x;
  for (uint row = gl_WorkGroupID.x; row < rows; row += gl_NumWorkGroups.x) {
    const uint first = row / inner * columns * inner + row % inner;
    float largest = -INFINITY;
    for (uint c = me; c < columns; c += WIDTH) {
      const float value = LoadFloat(DTYPE, x, first + c * inner);
      largest = largest < value || IsNan(value) ? value : largest;
    }
    largest = GroupMax(largest);
    if (KIND == HARDMAX) {
      if (me == 0) first_largest = columns;
      barrier();
      for (uint c = me; c < columns; c += WIDTH) {
        const float value = LoadFloat(DTYPE, x, first + c * inner);
        if (value == largest || (IsNan(value) && IsNan(largest))) {
          atomicMin(first_largest, c);
          break;
        }
      }
      barrier();
      const uint found = first_largest;
      for (uint c = me; c < columns; c += WIDTH) {
        StoreFloat(DTYPE, y, first + c * inner, c == found ? 1.0 : 0.0);
      }
      barrier();
      continue;
    }
    float sum = 0.0;
    for (uint c = me; c < columns; c += WIDTH) {
      sum += Exp(LoadFloat(DTYPE, x, first + c * inner) - largest);
    }
    sum = GroupSum(sum);
    const float last = KIND == LOG_SOFTMAX ? Log(sum) : 1.0 / sum;
    for (uint c = me; c < columns; c += WIDTH) {
      const float shifted = LoadFloat(DTYPE, x, first + c * inner) - largest;
      StoreFloat(DTYPE, y, first + c * inner,
                 KIND == LOG_SOFTMAX ? shifted - last : Exp(shifted) * last);
    }
  }
}
