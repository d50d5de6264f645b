#include "backends/cpu/kernels/step_functions.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "backends/cpu/kernels/element_functions.h"
#include "backends/cpu/kernels/vector_math.h"
#include "backends/cpu/kernels/vector_targets.h"

namespace tensord {
namespace {

// How Number's functions are computed: by the standard library, or in vectors.
struct LibraryMath {
  template <typename Number>
  static Number Erf(Number x) {
    return std::erf(x);
  }
  template <typename Number>
  static Number Exp(Number x) {
    return std::exp(x);
  }
  template <typename Number>
  static Number Gelu(Number x) {
    return tensord::Gelu(x);
  }
  template <typename Number>
  static Number GeluByTanh(Number x) {
    return tensord::GeluByTanh(x);
  }
  template <typename Number>
  static Number Logistic(Number x) {
    return tensord::Logistic(x);
  }
  template <typename Number>
  static Number Mish(Number x) {
    return tensord::Mish(x);
  }
  template <typename Number>
  static Number Swish(Number x, Number alpha) {
    return tensord::Swish(x, alpha);
  }
  template <typename Number>
  static Number Tanh(Number x) {
    return std::tanh(x);
  }
};

#define TENSORD_INLINE [[gnu::always_inline]] static inline float
struct VectorMath {
  TENSORD_INLINE Erf(float x) { return vector_math::Erf(x); }
  TENSORD_INLINE Exp(float x) { return vector_math::Exp(x); }
  TENSORD_INLINE Gelu(float x) { return vector_math::Gelu(x); }
  TENSORD_INLINE GeluByTanh(float x) { return vector_math::GeluByTanh(x); }
  TENSORD_INLINE Logistic(float x) { return vector_math::Logistic(x); }
  TENSORD_INLINE Mish(float x) { return vector_math::Mish(x); }
  TENSORD_INLINE Swish(float x, float alpha) {
    return vector_math::Swish(x, alpha);
  }
  TENSORD_INLINE Tanh(float x) { return vector_math::Tanh(x); }
};
#undef TENSORD_INLINE

namespace any_machine {
#include "backends/cpu/kernels/step_loops.inc"
}  // namespace any_machine
#if TENSORD_HAVE_VECTOR_TARGETS
TENSORD_BEGIN_AVX2
namespace avx2 {
#include "backends/cpu/kernels/step_loops.inc"
}  // namespace avx2
TENSORD_END_TARGET
TENSORD_BEGIN_AVX512
namespace avx512 {
#include "backends/cpu/kernels/step_loops.inc"
}  // namespace avx512
TENSORD_END_TARGET
#endif

// Null for an operator that has no form in vectors.
template <typename Number>
StepFunction<Number> FindInVectors(OpKind op) {
  if constexpr (std::is_same_v<Number, double>) {
    return any_machine::Find<double, LibraryMath>(op);
  } else {
    return TENSORD_FOR_THIS_MACHINE(Find<float, VectorMath>)(op);
  }
}

}  // namespace

#define UNARY(op, value)                                             \
  case OpKind::k##op:                                                \
    return [](const ExpressionStep& step, StepOperand<Number> a,     \
              StepOperand<Number>, int64_t length, Number* result) { \
      [[maybe_unused]] const auto alpha =                            \
          static_cast<Number>(step.parameters[0]);                   \
      [[maybe_unused]] const auto beta =                             \
          static_cast<Number>(step.parameters[1]);                   \
      any_machine::Map(a, length, result,                            \
                       [=](Number x) -> Number { return value; });   \
    };

template <typename Number>
StepFunction<Number> FindStepFunction(OpKind op) {
  if (const auto found = FindInVectors<Number>(op)) return found;
  switch (op) {
    UNARY(Acos, std::acos(x))
    UNARY(Acosh, std::acosh(x))
    UNARY(Asin, std::asin(x))
    UNARY(Asinh, std::asinh(x))
    UNARY(Atan, std::atan(x))
    UNARY(Atanh, std::atanh(x))
    UNARY(Celu, Celu(x, alpha))
    UNARY(Cos, std::cos(x))
    UNARY(Cosh, std::cosh(x))
    UNARY(Elu, Elu(x, alpha))
    UNARY(Log, std::log(x))
    UNARY(Selu, Selu(x, alpha, beta))
    UNARY(Sin, std::sin(x))
    UNARY(Sinh, std::sinh(x))
    UNARY(Softplus, Softplus(x))
    UNARY(Tan, std::tan(x))
    default:
      return nullptr;
  }
}

#undef UNARY

bool IsCostlyStep(OpKind op) {
  switch (op) {
    case OpKind::kAbs:
    case OpKind::kAdd:
    case OpKind::kCeil:
    case OpKind::kClip:
    case OpKind::kDiv:
    case OpKind::kFloor:
    case OpKind::kHardSigmoid:
    case OpKind::kHardSwish:
    case OpKind::kLeakyRelu:
    case OpKind::kMax:
    case OpKind::kMin:
    case OpKind::kMul:
    case OpKind::kNeg:
    case OpKind::kPRelu:
    case OpKind::kReciprocal:
    case OpKind::kRelu:
    case OpKind::kRound:
    case OpKind::kSign:
    case OpKind::kSoftsign:
    case OpKind::kSqrt:
    case OpKind::kSub:
    case OpKind::kThresholdedRelu:
      return false;
    default:
      return true;
  }
}

double ExpressionFlops(const Expression& expression) {
  constexpr double kCostlyFlops = 8;
  double flops = 0;
  for (const ExpressionStep& step : expression.steps) {
    flops += IsCostlyStep(step.op) ? kCostlyFlops : 1;
  }
  return flops;
}

absl::Status CheckExpression(const Expression& expression) {
  for (const ExpressionStep& step : expression.steps) {
    if (FindStepFunction<float>(step.op) == nullptr) {
      return absl::UnimplementedError(absl::StrCat(
          OpKindName(step.op), " is not among the element-wise steps"));
    }
  }
  const int32_t places = AssignPlaces(expression).count;
  if (places > kMaxExpressionPlaces) {
    return absl::UnimplementedError(absl::StrCat(
        places, " results are needed at once, above ", kMaxExpressionPlaces));
  }
  return absl::OkStatus();
}

template StepFunction<float> FindStepFunction<float>(OpKind op);
template StepFunction<double> FindStepFunction<double>(OpKind op);

}  // namespace tensord
