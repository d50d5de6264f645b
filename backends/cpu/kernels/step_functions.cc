#include "backends/cpu/kernels/step_functions.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "backends/cpu/kernels/element_functions.h"

namespace tensord {
namespace {

// A result may be the very block of an operand, which the compiler's own check
// takes for an overlap that forbids vectors.
#if defined(__GNUC__) && !defined(__clang__)
#define TENSORD_INDEPENDENT _Pragma("GCC ivdep")
#else
#define TENSORD_INDEPENDENT
#endif

template <typename Number, typename Function>
void Map(StepOperand<Number> x, int64_t length, Number* y, Function f) {
  if (x.block == nullptr) {
    std::fill_n(y, length, f(x.scalar));
    return;
  }
  const Number* block = x.block;
  TENSORD_INDEPENDENT
  for (int64_t i = 0; i < length; ++i) y[i] = f(block[i]);
}

template <typename Number, typename Function>
void MapPair(StepOperand<Number> a, StepOperand<Number> b, int64_t length,
             Number* y, Function f) {
  const Number* x = a.block;
  const Number* z = b.block;
  if (x == nullptr && z == nullptr) {
    std::fill_n(y, length, f(a.scalar, b.scalar));
  } else if (x == nullptr) {
    TENSORD_INDEPENDENT
    for (int64_t i = 0; i < length; ++i) y[i] = f(a.scalar, z[i]);
  } else if (z == nullptr) {
    TENSORD_INDEPENDENT
    for (int64_t i = 0; i < length; ++i) y[i] = f(x[i], b.scalar);
  } else {
    TENSORD_INDEPENDENT
    for (int64_t i = 0; i < length; ++i) y[i] = f(x[i], z[i]);
  }
}

}  // namespace

// Each row is an operator and its value at x (and y, its second operand), with
// the parameters alpha and beta.
#define UNARY(op, value)                                                \
  case OpKind::k##op:                                                   \
    return [](const ExpressionStep&, StepOperand<Number> a,             \
              StepOperand<Number>, int64_t length, Number* result) {    \
      Map(a, length, result, [](Number x) -> Number { return value; }); \
    };
#define UNARY_WITH_PARAMETERS(op, value)                                 \
  case OpKind::k##op:                                                    \
    return [](const ExpressionStep& step, StepOperand<Number> a,         \
              StepOperand<Number>, int64_t length, Number* result) {     \
      [[maybe_unused]] const auto alpha =                                \
          static_cast<Number>(step.parameters[0]);                       \
      [[maybe_unused]] const auto beta =                                 \
          static_cast<Number>(step.parameters[1]);                       \
      Map(a, length, result, [=](Number x) -> Number { return value; }); \
    };
#define BINARY(op, value)                                              \
  case OpKind::k##op:                                                  \
    return [](const ExpressionStep&, StepOperand<Number> a,            \
              StepOperand<Number> b, int64_t length, Number* result) { \
      MapPair(a, b, length, result,                                    \
              [](Number x, Number y) -> Number { return value; });     \
    };

template <typename Number>
StepFunction<Number> FindStepFunction(OpKind op) {
  switch (op) {
    BINARY(Add, x + y)
    BINARY(Div, x / y)
    BINARY(Max, Largest(x, y))
    BINARY(Min, Least(x, y))
    BINARY(Mul, x * y)
    BINARY(PRelu, LeakyRelu(x, y))
    BINARY(Pow, std::pow(x, y))
    BINARY(Sub, x - y)

    UNARY_WITH_PARAMETERS(Celu, Celu(x, alpha))
    UNARY_WITH_PARAMETERS(Clip, Clip(x, alpha, beta))
    UNARY_WITH_PARAMETERS(Elu, Elu(x, alpha))
    UNARY_WITH_PARAMETERS(Gelu, alpha != 0 ? GeluByTanh(x) : Gelu(x))
    UNARY_WITH_PARAMETERS(HardSigmoid, HardSigmoid(x, alpha, beta))
    UNARY_WITH_PARAMETERS(LeakyRelu, LeakyRelu(x, alpha))
    UNARY_WITH_PARAMETERS(Selu, Selu(x, alpha, beta))
    UNARY_WITH_PARAMETERS(Swish, Swish(x, alpha))
    UNARY_WITH_PARAMETERS(ThresholdedRelu, ThresholdedRelu(x, alpha))

    UNARY(Abs, std::abs(x))
    UNARY(Acos, std::acos(x))
    UNARY(Acosh, std::acosh(x))
    UNARY(Asin, std::asin(x))
    UNARY(Asinh, std::asinh(x))
    UNARY(Atan, std::atan(x))
    UNARY(Atanh, std::atanh(x))
    UNARY(Ceil, std::ceil(x))
    UNARY(Cos, std::cos(x))
    UNARY(Cosh, std::cosh(x))
    UNARY(Erf, std::erf(x))
    UNARY(Exp, std::exp(x))
    UNARY(Floor, std::floor(x))
    UNARY(HardSwish, HardSwish(x))
    UNARY(Log, std::log(x))
    UNARY(Mish, Mish(x))
    UNARY(Neg, -x)
    UNARY(Reciprocal, 1 / x)
    UNARY(Relu, Relu(x))
    UNARY(Round, std::nearbyint(x))
    UNARY(Sigmoid, Logistic(x))
    UNARY(Sign, Sign(x))
    UNARY(Sin, std::sin(x))
    UNARY(Sinh, std::sinh(x))
    UNARY(Softplus, Softplus(x))
    UNARY(Softsign, Softsign(x))
    UNARY(Sqrt, std::sqrt(x))
    UNARY(Tan, std::tan(x))
    UNARY(Tanh, std::tanh(x))
    default:
      return nullptr;
  }
}

#undef UNARY
#undef UNARY_WITH_PARAMETERS
#undef BINARY

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
  constexpr double kCostlyFlops = 20;
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
