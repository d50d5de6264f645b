#ifndef TENSORD_BACKENDS_CPU_KERNELS_STEP_FUNCTIONS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_STEP_FUNCTIONS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/expression.h"

namespace tensord {

// An operand of a step over a block of elements: as many elements, or one
// number for all.
template <typename Number>
struct StepOperand {
  const Number* block = nullptr;  // null: `scalar` it is
  Number scalar = 0;

  static StepOperand Block(const Number* block) { return {block, 0}; }
  static StepOperand Scalar(Number scalar) { return {nullptr, scalar}; }
};

// result[i] = step(a[i], b[i]) for `length` elements. The result may be an
// operand's block; b is not read by a step of one operand.
template <typename Number>
using StepFunction = void (*)(const ExpressionStep& step, StepOperand<Number> a,
                              StepOperand<Number> b, int64_t length,
                              Number* result);

// What an operator computes as a step: the same as its kernel, which uses
// element_functions.h too, but for exp() and its like of float, which are
// approximated in vectors (vector_math.h says how well). Number is float or
// double. Null for an operator that cannot be a step.
template <typename Number>
StepFunction<Number> FindStepFunction(OpKind op);

// Whether a step costs several times what an addition does: exp() and its like.
bool IsCostlyStep(OpKind op);

// Arithmetic operations for one element.
double ExpressionFlops(const Expression& expression);

// Elements that a step is done for at a time, and results of steps that a
// kernel holds at once: in doubles 100 KB of stack.
inline constexpr int64_t kExpressionBlock = 512;
inline constexpr int32_t kMaxExpressionPlaces = 24;

// OK for an expression of known steps that holds no more results at once than
// kMaxExpressionPlaces, else kUnimplemented.
absl::Status CheckExpression(const Expression& expression);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_STEP_FUNCTIONS_H_
