// Operators of one operand: arithmetic, rounding, activations, trigonometry,
// and the logic of bits.
//
//   y[i] = f(x[i])
//
// x and y are contiguous, have the same shape, and may be the same buffer.
// Floating-point functions are those of expression_steps.h; 16-bit floats are
// computed in float32 and rounded once. Integers wrap: -x and |x| of the least
// one are that integer.

#include <cstdint>

#include "backends/cuda/kernels/elementwise.h"
#include "backends/cuda/kernels/expression_steps.h"
#include "backends/cuda/kernels/map.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

// What most elements of networks go through, inline in the loop over a run: a
// call for each element would cost more time than memory takes.
#define TENSORD_INLINE_STEP(op, value)                \
  case OpKind::k##op:                                 \
    for (int k = 0; k < kWidth; ++k) {                \
      const Number x = ToCompute(from[k]);            \
      to[k] = Convert<T>(static_cast<Number>(value)); \
    }                                                 \
    return;

template <int kWidth, typename T, typename Number>
__device__ void FloatRun(OpKind op, Number alpha, Number beta,
                         const T (&from)[kWidth], T (&to)[kWidth]) {
  if constexpr (sizeof(T) < 8) {
    switch (op) {
      TENSORD_INLINE_STEP(Abs, fabs(x))
      TENSORD_INLINE_STEP(Erf, erf(x))
      TENSORD_INLINE_STEP(Exp, exp(x))
      TENSORD_INLINE_STEP(Gelu, alpha != 0 ? GeluByTanh(x) : Gelu(x))
      TENSORD_INLINE_STEP(HardSigmoid, HeldBetween0And1(alpha * x + beta))
      TENSORD_INLINE_STEP(HardSwish, x * HeldBetween0And1(x / 6 + Number{0.5}))
      TENSORD_INLINE_STEP(LeakyRelu, x < 0 ? alpha * x : x)
      TENSORD_INLINE_STEP(Neg, -x)
      TENSORD_INLINE_STEP(Reciprocal, 1 / x)
      TENSORD_INLINE_STEP(Relu, x < 0 ? Number{0} : x)
      TENSORD_INLINE_STEP(Sigmoid, Logistic(x))
      TENSORD_INLINE_STEP(Sqrt, sqrt(x))
      TENSORD_INLINE_STEP(Swish, x * Logistic(alpha * x))
      TENSORD_INLINE_STEP(Tanh, tanh(x))
      default:
        break;
    }
  }
  for (int k = 0; k < kWidth; ++k) {
    const Number x = ToCompute(from[k]);
    to[k] = Convert<T>(EvaluateStep<Number>(op, x, 0, alpha, beta));
  }
}

#undef TENSORD_INLINE_STEP

template <typename T>
__global__ void FloatKernel(OpKind op, Compute<T> alpha, Compute<T> beta,
                            const T* x, T* y, int64_t count, bool is_aligned) {
  constexpr int kWidth = kRunWidth<T>;
  MapRuns<kWidth>(x, y, count, is_aligned,
                  [&](const T(&from)[kWidth], T(&to)[kWidth]) {
                    FloatRun<kWidth, T, Compute<T>>(op, alpha, beta, from, to);
                  });
}

template <typename T>
__device__ T IntegerOf(OpKind op, T x) {
  using U = std::make_unsigned_t<T>;
  const T negated = static_cast<T>(U{0} - static_cast<U>(x));
  switch (op) {
    case OpKind::kAbs:
      return IsNegative(x) ? negated : x;
    case OpKind::kBitwiseNot:
      return static_cast<T>(~x);
    case OpKind::kNeg:
      return negated;
    case OpKind::kRelu:
      return IsNegative(x) ? T{0} : x;
    case OpKind::kSign:
      return static_cast<T>((x != 0) - 2 * IsNegative(x));
    default:  // Not: a bool as its byte
      return x == 0;
  }
}

template <typename T>
__global__ void IntegerKernel(OpKind op, const T* x, T* y, int64_t count,
                              bool is_aligned) {
  constexpr int kWidth = kRunWidth<T>;
  MapRuns<kWidth>(x, y, count, is_aligned,
                  [&](const T(&from)[kWidth], T(&to)[kWidth]) {
                    for (int k = 0; k < kWidth; ++k) {
                      to[k] = IntegerOf<T>(op, from[k]);
                    }
                  });
}

}  // namespace

absl::Status RunUnary(const KernelCall& call, OpKind op, DType dtype) {
  const int64_t count = call.output_layout(0).shape.element_count();
  const std::array<double, 2> parameters = StepParameters(call.params);
  const auto launch = [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int kWidth = kRunWidth<T>;
    const T* x = call.input<T>(0);
    T* y = call.output<T>(0);
    const bool is_aligned = IsAligned(x, kWidth) && IsAligned(y, kWidth);
    const LaunchShape shape = ForRuns(count, kWidth);
    if constexpr (kIsFloat<T>) {
      return Launch(call.context, FloatKernel<T>, shape, op,
                    static_cast<Compute<T>>(parameters[0]),
                    static_cast<Compute<T>>(parameters[1]), x, y, count,
                    is_aligned);
    } else {
      return Launch(call.context, IntegerKernel<T>, shape, op, x, y, count,
                    is_aligned);
    }
  };
  if (dtype == DType::kBool) return launch(TypeTag<uint8_t>());
  return IsFloatDType(dtype) ? VisitFloat(dtype, launch)
                             : VisitInteger(dtype, launch);
}

}  // namespace tensord::cuda
