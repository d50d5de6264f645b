// ElementwiseChain: an expression, interpreted.
//
//   y[i] = f(x0[i], x1[i], ...), all broadcast to y's shape
//
// Everything is contiguous. y may be the buffer of an input of its own size.
// Steps are computed in float32, of float64 in float64, as expression_steps.h
// has them; a 16-bit result is rounded once, at the end of the chain, and an
// 8-bit integer to the nearest, of two the even one, and saturated.
//
// A thread takes a run of neighbours through all steps. What a step gives is in
// registers for the next one; what later ones read is kept in local memory. The
// sibling that is compiled at run time (libraries/) goes first where there is
// one; this one is there without it.

#include <cstdint>
#include <memory>

#include "absl/strings/str_cat.h"
#include "backends/cuda/kernels/elementwise.h"
#include "backends/cuda/kernels/expression_steps.h"
#include "backends/cuda/kernels/map.h"
#include "backends/cuda/kernels/quantization.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

constexpr int kMaxSteps = 32;
constexpr int kMaxInputs = 8;
constexpr int kMaxPlaces = 8;

// Where a step finds an operand: an input by its number, or one of these.
constexpr int8_t kPrevious = -1;  // what the step before gave
constexpr int8_t kConstant = -2;
constexpr int8_t kFirstPlace = 32;
constexpr int8_t kNoPlace = -1;  // none but the next step reads it

struct ChainStep {
  OpKind op;
  int8_t operands[2];
  int8_t place;  // that keeps the result, or kNoPlace
  double constants[2];
  double parameters[2];
};

// A kernel's parameter, as are the plan and the operands: together they must
// stay below the 4 KB that every device takes.
struct Chain {
  int step_count;
  ChainStep steps[kMaxSteps];
};

template <typename T>
struct Operands {
  const T* x[kMaxInputs];
};

struct ChainState final : KernelState {
  Chain chain = {};
};

// What elements are computed in.
template <typename T>
using NumberOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <typename T>
__device__ T Rounded(NumberOf<T> x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(QuantizeTo(x, 0, kLeast<T>, kMost<T>));
  } else {
    return Convert<T>(x);
  }
}

#define TENSORD_STEP(op, value)                    \
  case OpKind::k##op:                              \
    for (int k = 0; k < kWidth; ++k) x[k] = value; \
    return;

// x becomes the step's result. What chains are mostly made of is inline.
template <int kWidth, typename Number>
__device__ void ApplyStep(const ChainStep& step, Number (&x)[kWidth],
                          const Number (&y)[kWidth]) {
  const auto alpha = static_cast<Number>(step.parameters[0]);
  const auto beta = static_cast<Number>(step.parameters[1]);
  switch (step.op) {
    TENSORD_STEP(Add, x[k] + y[k])
    TENSORD_STEP(Clip, Clip(x[k], alpha, beta))
    TENSORD_STEP(Div, x[k] / y[k])
    TENSORD_STEP(Mul, x[k] * y[k])
    TENSORD_STEP(Relu, x[k] < 0 ? Number{0} : x[k])
    TENSORD_STEP(Sub, x[k] - y[k])
    default:
      for (int k = 0; k < kWidth; ++k) {
        x[k] = EvaluateStep<Number>(step.op, x[k], y[k], alpha, beta);
      }
  }
}

#undef TENSORD_STEP

template <int kWidth, typename T>
__global__ void ChainKernel(MapPlan<kMaxInputs> plan, Chain chain,
                            Operands<T> operands, T* y) {
  using Number = NumberOf<T>;
  const int64_t count = plan.walk.count;
  for (int64_t first = GridThread() * kWidth; first < count;
       first += GridThreads() * kWidth) {
    const int left =
        static_cast<int>(count - first < kWidth ? count - first : kWidth);
    Number places[kMaxPlaces][kWidth];
    Number previous[kWidth] = {};
    for (int s = 0; s < chain.step_count; ++s) {
      const ChainStep& step = chain.steps[s];
      Number values[2][kWidth];
      for (int side = 0; side < 2; ++side) {
        const int operand = step.operands[side];
        Number(&value)[kWidth] = values[side];
        if (operand == kPrevious) {
          for (int k = 0; k < kWidth; ++k) value[k] = previous[k];
        } else if (operand == kConstant) {
          for (int k = 0; k < kWidth; ++k) {
            value[k] = static_cast<Number>(step.constants[side]);
          }
        } else if (operand >= kFirstPlace) {
          for (int k = 0; k < kWidth; ++k) {
            value[k] = places[operand - kFirstPlace][k];
          }
        } else {
          T from[kWidth];
          LoadOperand<kWidth>(
              operands.x[operand] + plan.walk.LocateOne(operand, first), left,
              plan.repeats[operand], from);
          for (int k = 0; k < kWidth; ++k) {
            value[k] = static_cast<Number>(ToCompute(from[k]));
          }
        }
      }
      ApplyStep<kWidth, Number>(step, values[0], values[1]);
      for (int k = 0; k < kWidth; ++k) previous[k] = values[0][k];
      if (step.place == kNoPlace) continue;
      for (int k = 0; k < kWidth; ++k) places[step.place][k] = values[0][k];
    }
    T to[kWidth];
    for (int k = 0; k < kWidth; ++k) to[k] = Rounded<T>(previous[k]);
    StoreRun<kWidth>(to, left, left == kWidth, y + first);
  }
}

bool IsReadLater(const Expression& expression, int32_t number, int next) {
  for (size_t s = next; s < expression.steps.size(); ++s) {
    const auto& operands = expression.steps[s].operands;
    if (operands[0] == number || operands[1] == number) return true;
  }
  return false;
}

// `last` is the number of what the step before gave.
int8_t OperandOf(const Expression& expression, const ExpressionPlaces& places,
                 int32_t number, int32_t last, double& constant) {
  if (number == last && last >= expression.FirstStepValue()) return kPrevious;
  if (number == ExpressionStep::kNoOperand) return kConstant;
  if (number < expression.input_count) return static_cast<int8_t>(number);
  if (number < expression.FirstStepValue()) {
    constant = expression.constants[number - expression.input_count];
    return kConstant;
  }
  const int32_t step = number - expression.FirstStepValue();
  return static_cast<int8_t>(kFirstPlace + places.place[step]);
}

}  // namespace

absl::Status AcceptsChain(const NodeSite& site) {
  const auto& expression = std::get<Expression>(site.params);
  const auto check = [](int64_t count, absl::string_view what, int most) {
    return count <= most ? absl::OkStatus()
                         : absl::UnimplementedError(absl::StrCat(
                               count, " ", what, " are above ", most));
  };
  for (const absl::Status& status :
       {check(static_cast<int64_t>(expression.steps.size()), "steps",
              kMaxSteps),
        check(expression.input_count, "inputs", kMaxInputs),
        check(AssignPlaces(expression).count, "results at once", kMaxPlaces)}) {
    if (!status.ok()) return status;
  }
  for (const ExpressionStep& step : expression.steps) {
    if (IsExpressionStep(step.op)) continue;
    return absl::UnimplementedError(absl::StrCat(
        OpKindName(step.op), " is not among the element-wise steps"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareChain(const NodeSite& site,
                                                          Device&) {
  const auto& expression = std::get<Expression>(site.params);
  const ExpressionPlaces places = AssignPlaces(expression);
  auto state = std::make_unique<ChainState>();
  Chain& chain = state->chain;
  for (const ExpressionStep& from : expression.steps) {
    ChainStep& step = chain.steps[chain.step_count];
    const int32_t last = expression.FirstStepValue() + chain.step_count - 1;
    step.op = from.op;
    step.place = IsReadLater(expression, last + 1, chain.step_count + 2)
                     ? static_cast<int8_t>(places.place[chain.step_count])
                     : kNoPlace;
    for (int side = 0; side < 2; ++side) {
      step.operands[side] = OperandOf(expression, places, from.operands[side],
                                      last, step.constants[side]);
      step.parameters[side] = from.parameters[side];
    }
    ++chain.step_count;
  }
  return state;
}

absl::Status RunChain(const KernelCall& call, OpKind, DType dtype) {
  const auto launch = [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int kWidth = kRunWidth<T>;
    static_assert(sizeof(MapPlan<kMaxInputs>) + sizeof(Chain) +
                      sizeof(Operands<T>) + sizeof(T*) <=
                  4096);
    Operands<T> operands = {};
    const Layout* layouts[kMaxInputs];
    bool aligned[kMaxInputs];
    const size_t input_count = call.inputs.size();
    for (size_t i = 0; i < input_count; ++i) {
      operands.x[i] = call.input<T>(static_cast<int>(i));
      layouts[i] = &call.layouts[i];
      aligned[i] = IsAligned(operands.x[i], kWidth);
    }
    T* y = call.output<T>(0);
    const auto plan = PlanMap<kMaxInputs>(
        absl::MakeSpan(layouts, input_count), call.output_layout(0).shape,
        kWidth, absl::MakeSpan(aligned, input_count), IsAligned(y, kWidth));
    return Launch(call.context,
                  plan.width == 1 ? ChainKernel<1, T> : ChainKernel<kWidth, T>,
                  ForRuns(plan.walk.count, plan.width), plan,
                  static_cast<const ChainState&>(*call.state).chain, operands,
                  y);
  };
  if (dtype == DType::kInt8) return launch(TypeTag<int8_t>());
  if (dtype == DType::kUInt8) return launch(TypeTag<uint8_t>());
  return VisitFloat(dtype, launch);
}

}  // namespace tensord::cuda
