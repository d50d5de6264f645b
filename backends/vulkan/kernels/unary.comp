#version 460
// y[i] = op(x[i]) of one dtype; IsInf and IsNaN give bools. Everything is
// contiguous, and y may be x.
#include "common.glsl"
#include "steps.glsl"

layout(constant_id = 1) const uint DTYPE = FLOAT32;
layout(constant_id = 2) const uint OP = 0;

// Operators behind the steps.
const uint BITWISE_NOT = 100, NOT = 101, IS_INF = 102, IS_NAN = 103;

layout(push_constant, scalar) uniform Arguments {
  uint64_t x, y;
  uint count;
  float alpha;
  float beta;
};

int64_t OfInteger(int64_t value) {
  switch (OP) {
    case STEP_Abs:
      return IsUnsigned(DTYPE) || value >= 0 ? value : -value;
    case STEP_Neg:
      return -value;
    case STEP_Relu:
      return value < 0 ? int64_t(0) : value;
    case STEP_Sign:
      return value == 0 ? int64_t(0)
             : IsUnsigned(DTYPE) || value > 0 ? int64_t(1)
                                              : int64_t(-1);
    case BITWISE_NOT:
      return ~value;
    default:
      return value == 0 ? int64_t(1) : int64_t(0);
  }
}

void main() {
  for (GRID_STRIDE(i, count)) {
    if (OP == IS_NAN) {
      UInt8s(y).at[i] = uint8_t(IsNan(LoadFloat(DTYPE, x, i)) ? 1 : 0);
    } else if (OP == IS_INF) {
      const float value = LoadFloat(DTYPE, x, i);
      const bool counts = value > 0.0 ? beta != 0.0 : alpha != 0.0;
      UInt8s(y).at[i] = uint8_t(IsInf(value) && counts ? 1 : 0);
    } else if (IsFloat(DTYPE)) {
      const float value = LoadFloat(DTYPE, x, i);
      StoreFloat(DTYPE, y, i, EvaluateStep(OP, value, value, alpha, beta));
    } else {
      StoreInteger(DTYPE, y, i, OfInteger(LoadInteger(DTYPE, x, i)));
    }
  }
}
