// What every shader includes, right behind #version.
//
// Operands are named by 64-bit addresses, so no tensor is bound by the limits
// of descriptors; elements are counted in 32 bits. Dtypes are numbers of ONNX
// (backends/api/dtype.h) in specialisation constants, so that each switch over
// one is decided when the pipeline is made. 16-bit floats are computed in
// float32 and rounded once, to the nearest, of two the even one.
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_control_flow_attributes : require

const uint FLOAT32 = 1, UINT8 = 2, INT8 = 3, UINT16 = 4, INT16 = 5, INT32 = 6,
           INT64 = 7, BOOL = 9, FLOAT16 = 10, UINT32 = 12, UINT64 = 13,
           BFLOAT16 = 16;

#define ELEMENTS(name, type, bytes)                                        \
  layout(buffer_reference, scalar, buffer_reference_align = bytes) buffer  \
      name {                                                               \
    type at[];                                                             \
  };
ELEMENTS(Int8s, int8_t, 1)
ELEMENTS(UInt8s, uint8_t, 1)
ELEMENTS(Int16s, int16_t, 2)
ELEMENTS(UInt16s, uint16_t, 2)
ELEMENTS(Halves, float16_t, 2)
ELEMENTS(Int32s, int, 4)
ELEMENTS(UInt32s, uint, 4)
ELEMENTS(Floats, float, 4)
ELEMENTS(Int64s, int64_t, 8)
ELEMENTS(UInt64s, uint64_t, 8)
ELEMENTS(UInt128s, uvec4, 16)

bool IsNan(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }
bool IsInf(float x) { return (floatBitsToUint(x) & 0x7fffffffu) == 0x7f800000u; }

#define INFINITY uintBitsToFloat(0x7f800000u)
#define NOT_A_NUMBER uintBitsToFloat(0x7fc00000u)

uint16_t ToBFloat16(float x) {
  const uint bits = floatBitsToUint(x);
  if (IsNan(x)) return uint16_t((bits >> 16) | 0x40u);
  return uint16_t((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// Drivers may round a conversion to float16 in other ways than to the nearest.
uint16_t ToFloat16(float x) {
  const uint bits = floatBitsToUint(x);
  const uint sign = (bits >> 16) & 0x8000u;
  const uint magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return uint16_t(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return uint16_t(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    // Subnormal: the sum's rounding is the result's.
    const float shifted = uintBitsToFloat(magnitude) + 0.5;
    return uint16_t(sign | (floatBitsToUint(shifted) - 0x3f000000u));
  }
  const uint rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return uint16_t(sign | ((rounded - 0x38000000u) >> 13));
}

float LoadFloat(uint dtype, uint64_t address, uint i) {
  switch (dtype) {
    case FLOAT16:
      return float(Halves(address).at[i]);
    case BFLOAT16:
      return uintBitsToFloat(uint(UInt16s(address).at[i]) << 16);
    default:
      return Floats(address).at[i];
  }
}

void StoreFloat(uint dtype, uint64_t address, uint i, float x) {
  switch (dtype) {
    case FLOAT16:
      UInt16s(address).at[i] = ToFloat16(x);
      break;
    case BFLOAT16:
      UInt16s(address).at[i] = ToBFloat16(x);
      break;
    default:
      Floats(address).at[i] = x;
  }
}

// Integers and bools as 64 bits; unsigned ones keep their bits.
int64_t LoadInteger(uint dtype, uint64_t address, uint i) {
  switch (dtype) {
    case INT8:
      return int64_t(Int8s(address).at[i]);
    case UINT8:
    case BOOL:
      return int64_t(UInt8s(address).at[i]);
    case INT16:
      return int64_t(Int16s(address).at[i]);
    case UINT16:
      return int64_t(UInt16s(address).at[i]);
    case INT32: {
      // llvmpipe's own extension of 32 bits loses the sign.
      const int low = Int32s(address).at[i];
      return packInt2x32(ivec2(low, low >> 31));
    }
    case UINT32:
      return int64_t(UInt32s(address).at[i]);
    default:
      return Int64s(address).at[i];
  }
}

void StoreInteger(uint dtype, uint64_t address, uint i, int64_t x) {
  switch (dtype) {
    case INT8:
    case UINT8:
    case BOOL:
      UInt8s(address).at[i] = uint8_t(x);
      break;
    case INT16:
    case UINT16:
      UInt16s(address).at[i] = uint16_t(x);
      break;
    case INT32:
    case UINT32:
      UInt32s(address).at[i] = uint(x);
      break;
    default:
      Int64s(address).at[i] = x;
  }
}

bool IsFloat(uint dtype) {
  return dtype == FLOAT32 || dtype == FLOAT16 || dtype == BFLOAT16;
}
bool IsUnsigned(uint dtype) {
  return dtype == UINT8 || dtype == UINT16 || dtype == UINT32 ||
         dtype == UINT64 || dtype == BOOL;
}

// The least and the greatest integer of a dtype.
int64_t LeastOf(uint dtype) {
  switch (dtype) {
    case INT8:
      return int64_t(-128);
    case INT16:
      return int64_t(-32768);
    case INT32:
      return int64_t(-2147483647) - int64_t(1);
    case INT64:
      return int64_t(1) << 63;
    default:
      return int64_t(0);
  }
}
int64_t MostOf(uint dtype) {
  switch (dtype) {
    case BOOL:
      return int64_t(1);
    case UINT64:
      return int64_t(-1);
    case INT64:
      return ~(int64_t(1) << 63);
    case UINT8:
      return int64_t(255);
    case UINT16:
      return int64_t(65535);
    case UINT32:
      return int64_t(0xffffffffu);
    default:
      return -(LeastOf(dtype) + int64_t(1));
  }
}

// A float without its fraction, held to the dtype's range; of a NaN, 0.
int64_t Truncated(uint dtype, float x) {
  if (IsNan(x)) return int64_t(0);
  if (dtype == UINT64) {
    if (x <= 0.0) return int64_t(0);
    return x >= 18446744073709551616.0 ? int64_t(-1) : int64_t(uint64_t(x));
  }
  if (x >= 9223372036854775808.0) return MostOf(dtype);
  if (x <= -9223372036854775808.0) return LeastOf(dtype);
  const int64_t whole = int64_t(x);
  return whole < LeastOf(dtype)  ? LeastOf(dtype)
         : whole > MostOf(dtype) ? MostOf(dtype)
                                 : whole;
}

// Every shader's work groups are a line of WIDTH invocations.
layout(constant_id = 0) const uint WIDTH = 256;
layout(local_size_x_id = 0) in;

// For the elements of a grid: `for (GRID_STRIDE(i, count))`.
#define GRID_STRIDE(i, count)                          \
  uint i = gl_GlobalInvocationID.x; i < (count);       \
  i += gl_NumWorkGroups.x * gl_WorkGroupSize.x
