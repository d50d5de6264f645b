#version 460
// QuantizeLinear and DequantizeLinear, contiguous.
//   quantize    y[i] = saturate(round(x[i] / scale) + zero point)
//   dequantize  y[i] = (x[i] - zero point) * scale
#include "common.glsl"

layout(constant_id = 1) const uint X_DTYPE = FLOAT32;
layout(constant_id = 2) const uint SCALE_DTYPE = FLOAT32;
layout(constant_id = 3) const uint Y_DTYPE = UINT8;
layout(constant_id = 4) const uint QUANTIZES = 1;
layout(constant_id = 5) const uint QUOTIENT_DTYPE = FLOAT32;

layout(push_constant, scalar) uniform Arguments {
  uint64_t x, scale, zero, y;  // zero may be absent
  uint count;
  // Which scale is an element's: x is seen as [outer, extent, inner].
  uint extent, inner;
  uint block;   // elements of the axis that share a scale
  uint blocks;  // 0: one scale for all
  uint has_rows;  // scales have x's other dimensions too
};

uint ScaleIndex(uint i) {
  if (blocks == 0) return 0;
  const uint along = i / inner % extent;
  if (has_rows == 0) return along;
  return (i / inner / extent * blocks + along / block) * inner + i % inner;
}

float Rounded(float value) {
  if (QUOTIENT_DTYPE == FLOAT16) return unpackHalf2x16(uint(ToFloat16(value))).x;
  if (QUOTIENT_DTYPE == BFLOAT16) {
    return uintBitsToFloat(uint(ToBFloat16(value)) << 16);
  }
  return value;
}

void main() {
  for (GRID_STRIDE(i, count)) {
    const uint at = ScaleIndex(i);
    const float by = LoadFloat(SCALE_DTYPE, scale, at);
    if (QUANTIZES == 0) {
      int64_t code = LoadInteger(X_DTYPE, x, i);
      if (zero != 0) code -= LoadInteger(X_DTYPE, zero, at);
      StoreFloat(Y_DTYPE, y, i, float(code) * by);
      continue;
    }
    const float value = IsFloat(X_DTYPE)
                            ? LoadFloat(X_DTYPE, x, i)
                            : float(int(LoadInteger(X_DTYPE, x, i)));
    const float quotient = Rounded(Rounded(value) / Rounded(by));
    const int own_zero = zero == 0 ? 0 : int(LoadInteger(Y_DTYPE, zero, at));
    const int bits = Y_DTYPE == UINT8 || Y_DTYPE == INT8 ? 8 : 16;
    const int least = IsUnsigned(Y_DTYPE) ? 0 : -(1 << (bits - 1));
    const int most = least + (1 << bits) - 1;
    int code = own_zero;
    if (!IsNan(quotient)) {
      // Held to what no zero point brings back into range.
      code += int(roundEven(clamp(quotient, -200000.0, 200000.0)));
    }
    StoreInteger(Y_DTYPE, y, i, int64_t(clamp(code, least, most)));
  }
}
