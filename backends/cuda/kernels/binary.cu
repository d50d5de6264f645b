// Operators of two operands of one dtype: Add, Sub, Mul, Div, Mod, PRelu, Pow,
// BitShift, the bitwise ones, And, Or, Xor.
//
//   y[i] = f(a[i], b[i]), a and b broadcast to y's shape
//
// All are contiguous. y may be the buffer of an input of its own size. Computes
// in the elements' own type, 16-bit floats in float32 with one rounding;
// integers wrap. Mod has the sign of the divisor, or with is_fmod (and for
// floating-point types always) that of the dividend. BitShift is for unsigned
// integers, and shifts everything out where the count is the width or more. A
// bool is a byte; any but 0 is true, and results are 0 and 1.
//
// An integer divided by zero, or modulo zero, is 0: the device cannot refuse a
// node that has been submitted. The least integer divided by -1 wraps.

#include <cstdint>

#include "backends/cuda/kernels/elementwise.h"
#include "backends/cuda/kernels/expression_steps.h"
#include "backends/cuda/kernels/map.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

#define TENSORD_PAIR(op, value)                  \
  case OpKind::k##op:                            \
    for (int k = 0; k < kWidth; ++k) {           \
      const auto x = ToCompute(from_a[k]);       \
      const auto y = ToCompute(from_b[k]);       \
      to[k] = Convert<T>(static_cast<C>(value)); \
    }                                            \
    return;

template <int kWidth, typename T>
__device__ void FloatRun(OpKind op, const T (&from_a)[kWidth],
                         const T (&from_b)[kWidth], T (&to)[kWidth]) {
  using C = Compute<T>;
  switch (op) {
    TENSORD_PAIR(Add, x + y)
    TENSORD_PAIR(Sub, x - y)
    TENSORD_PAIR(Mul, x * y)
    TENSORD_PAIR(Div, x / y)
    TENSORD_PAIR(PRelu, x < 0 ? y * x : x)
    TENSORD_PAIR(Mod, fmod(x, y))
    default:  // Pow. Squares are everywhere, as in variances: a product each.
      for (int k = 0; k < kWidth; ++k) {
        const C x = ToCompute(from_a[k]);
        const C y = ToCompute(from_b[k]);
        to[k] = Convert<T>(y == 2 ? x * x : EvaluateStep<C>(op, x, y, 0, 0));
      }
  }
}

template <typename T>
__device__ T Quotient(T a, T b) {
  using U = Wrapping<T>;
  if (b == 0) return 0;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) {
    return static_cast<T>(U{0} - static_cast<U>(a));
  }
  return static_cast<T>(a / b);
}

template <typename T>
__device__ T Remainder(T a, T b, bool is_fmod) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == static_cast<T>(-1)) return 0;
    const auto rest = static_cast<T>(a % b);
    const bool differs = rest != 0 && (rest < 0) != (b < 0);
    return differs && !is_fmod ? static_cast<T>(rest + b) : rest;
  } else {
    return static_cast<T>(a % b);
  }
}

template <typename T>
__device__ T Shifted(T a, T b, bool is_left) {
  constexpr uint64_t kBits = 8 * sizeof(T);
  const auto value = static_cast<uint64_t>(a);
  const auto count = static_cast<uint64_t>(b);
  if (count >= kBits) return 0;
  return static_cast<T>(is_left ? value << count : value >> count);
}

// `flag`: Mod's is_fmod, BitShift's is_left. Not inlined: it would be in every
// kernel as many times as a run has elements.
template <typename T>
__device__ __noinline__ T OtherPair(OpKind op, bool flag, T x, T y) {
  using U = Wrapping<T>;
  switch (op) {
    case OpKind::kDiv:
      return Quotient(x, y);
    case OpKind::kMod:
      return Remainder(x, y, flag);
    case OpKind::kPRelu:
      if (!IsNegative(x)) return x;
      return static_cast<T>(static_cast<U>(y) * static_cast<U>(x));
    case OpKind::kBitShift:
      return Shifted(x, y, flag);
    case OpKind::kAnd:
      return (x != 0) & (y != 0);
    case OpKind::kOr:
      return (x | y) != 0;
    default:  // Xor
      return (x != 0) != (y != 0);
  }
}

template <int kWidth, typename T>
__device__ void IntegerRun(OpKind op, bool flag, const T (&from_a)[kWidth],
                           const T (&from_b)[kWidth], T (&to)[kWidth]) {
  using C = T;
  using U = Wrapping<T>;
  switch (op) {
    TENSORD_PAIR(Add, static_cast<U>(x) + static_cast<U>(y))
    TENSORD_PAIR(Sub, static_cast<U>(x) - static_cast<U>(y))
    TENSORD_PAIR(Mul, static_cast<U>(x) * static_cast<U>(y))
    TENSORD_PAIR(BitwiseAnd, x & y)
    TENSORD_PAIR(BitwiseOr, x | y)
    TENSORD_PAIR(BitwiseXor, x ^ y)
    default:
      for (int k = 0; k < kWidth; ++k) {
        to[k] = OtherPair<T>(op, flag, from_a[k], from_b[k]);
      }
  }
}

#undef TENSORD_PAIR

template <int kWidth, typename T>
__global__ void PairKernel(MapPlan<2> plan, OpKind op, bool flag, const T* a,
                           const T* b, T* y) {
  MapPairs<kWidth>(
      plan, a, b, y,
      [&](const T(&from_a)[kWidth], const T(&from_b)[kWidth], T(&to)[kWidth]) {
        if constexpr (kIsFloat<T>) {
          FloatRun<kWidth, T>(op, from_a, from_b, to);
        } else {
          IntegerRun<kWidth, T>(op, flag, from_a, from_b, to);
        }
      });
}

}  // namespace

absl::Status RunBinary(const KernelCall& call, OpKind op, DType dtype) {
  bool flag = false;
  if (const auto* mod = std::get_if<ModParams>(&call.params)) {
    flag = mod->is_fmod;
  } else if (const auto* shift = std::get_if<BitShiftParams>(&call.params)) {
    flag = shift->is_left;
  }
  const auto launch = [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int kWidth = kRunWidth<T>;
    const auto plan = PlanPairs<T, T, T>(call, kWidth);
    return Launch(call.context,
                  plan.width == 1 ? PairKernel<1, T> : PairKernel<kWidth, T>,
                  ForRuns(plan.walk.count, plan.width), plan, op, flag,
                  call.input<T>(0), call.input<T>(1), call.output<T>(0));
  };
  if (dtype == DType::kBool) return launch(TypeTag<uint8_t>());
  return IsFloatDType(dtype) ? VisitFloat(dtype, launch)
                             : VisitInteger(dtype, launch);
}

}  // namespace tensord::cuda
