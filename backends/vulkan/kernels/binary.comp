#version 460
// y[i] = a[i] op b[i], both broadcast to y's shape. y is contiguous, and may be
// the buffer of an operand of its own size. An integer divided by 0, or modulo
// 0, is 0.
#include "common.glsl"
#include "steps.glsl"

layout(constant_id = 1) const uint DTYPE = FLOAT32;    // of a, and of y
layout(constant_id = 2) const uint B_DTYPE = FLOAT32;  // Pow's exponent differs
layout(constant_id = 3) const uint OP = 0;
// 0: both are as y; 1: they are walked.
layout(constant_id = 4) const uint WALKS = 0;

const uint AND = 100, OR = 101, XOR = 102, SHIFT_LEFT = 103, SHIFT_RIGHT = 104,
           EQUAL = 105, GREATER = 106, GREATER_OR_EQUAL = 107, LESS = 108,
           LESS_OR_EQUAL = 109, MODULO = 110;

const uint MOST_DIMENSIONS = 8;
struct Dimension {
  uint extent;
  uint a;  // strides
  uint b;
};

layout(push_constant, scalar) uniform Arguments {
  uint64_t a, b, y;
  uint count;
  uint rank;
  Dimension dimensions[MOST_DIMENSIONS];  // the innermost first
};

bool Compares() { return OP >= EQUAL && OP <= LESS_OR_EQUAL; }

bool Compared(bool is_less, bool is_equal, bool is_ordered) {
  switch (OP) {
    case EQUAL:
      return is_equal;
    case GREATER:
      return is_ordered && !is_less && !is_equal;
    case GREATER_OR_EQUAL:
      return is_ordered && !is_less;
    case LESS:
      return is_less;
    default:
      return is_less || is_equal;
  }
}

int64_t Power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return int64_t(1);
    if (base == -1) return (exponent & 1) == 0 ? int64_t(1) : int64_t(-1);
    return int64_t(0);
  }
  int64_t result = int64_t(1);
  while (exponent > 0) {
    if ((exponent & 1) != 0) result *= base;
    base *= base;
    exponent >>= 1;
  }
  return result;
}

int64_t OfIntegers(int64_t p, int64_t q) {
  const bool is_unsigned = IsUnsigned(DTYPE);
  switch (OP) {
    case STEP_Add:
      return p + q;
    case STEP_Sub:
      return p - q;
    case STEP_Mul:
      return p * q;
    case STEP_Div:
      if (q == 0) return int64_t(0);
      if (!is_unsigned && q == -1) return -p;
      return is_unsigned ? int64_t(uint64_t(p) / uint64_t(q)) : p / q;
    case STEP_Mod:  // the sign of the dividend
      if (q == 0 || (!is_unsigned && q == -1)) return int64_t(0);
      return is_unsigned ? int64_t(uint64_t(p) % uint64_t(q)) : p - p / q * q;
    case MODULO: {  // the sign of the divisor
      if (q == 0 || (!is_unsigned && q == -1)) return int64_t(0);
      if (is_unsigned) return int64_t(uint64_t(p) % uint64_t(q));
      const int64_t rest = p - p / q * q;
      return rest != 0 && (rest < 0) != (q < 0) ? rest + q : rest;
    }
    case STEP_Max:
      return (is_unsigned ? uint64_t(p) > uint64_t(q) : p > q) ? p : q;
    case STEP_Min:
      return (is_unsigned ? uint64_t(p) < uint64_t(q) : p < q) ? p : q;
    case STEP_PRelu:
      return !is_unsigned && p < 0 ? p * q : p;
    case STEP_Pow:
      return Power(p, q);
    case AND:
      return p & q;
    case OR:
      return p | q;
    case XOR:
      return p ^ q;
    case SHIFT_LEFT:
      return uint64_t(q) >= 64 ? int64_t(0) : p << q;
    case SHIFT_RIGHT:
      return uint64_t(q) >= 64 ? int64_t(0) : int64_t(uint64_t(p) >> q);
    default:
      return int64_t(Compared(is_unsigned ? uint64_t(p) < uint64_t(q) : p < q,
                              p == q, true)
                         ? 1
                         : 0);
  }
}

void main() {
  for (GRID_STRIDE(i, count)) {
    uint at_a = i;
    uint at_b = i;
    if (WALKS != 0) {
      at_a = 0;
      at_b = 0;
      uint rest = i;
      for (uint d = 0; d + 1 < rank; ++d) {
        const uint index = rest % dimensions[d].extent;
        rest /= dimensions[d].extent;
        at_a += index * dimensions[d].a;
        at_b += index * dimensions[d].b;
      }
      at_a += rest * dimensions[rank - 1].a;
      at_b += rest * dimensions[rank - 1].b;
    }
    if (IsFloat(DTYPE)) {
      const float p = LoadFloat(DTYPE, a, at_a);
      const float q = IsFloat(B_DTYPE) ? LoadFloat(B_DTYPE, b, at_b)
                      : IsUnsigned(B_DTYPE)
                          ? float(uint64_t(LoadInteger(B_DTYPE, b, at_b)))
                          : float(LoadInteger(B_DTYPE, b, at_b));
      if (Compares()) {
        const bool is_ordered = !IsNan(p) && !IsNan(q);
        UInt8s(y).at[i] =
            uint8_t(Compared(is_ordered && p < q, is_ordered && p == q,
                             is_ordered)
                        ? 1
                        : 0);
      } else {
        StoreFloat(DTYPE, y, i, EvaluateStep(OP, p, q, 0.0, 0.0));
      }
    } else {
      const int64_t result = OfIntegers(LoadInteger(DTYPE, a, at_a),
                                        LoadInteger(B_DTYPE, b, at_b));
      if (Compares()) {
        UInt8s(y).at[i] = uint8_t(result);
      } else {
        StoreInteger(DTYPE, y, i, result);
      }
    }
  }
}
