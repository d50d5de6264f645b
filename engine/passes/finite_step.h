#ifndef TENSORD_ENGINE_PASSES_FINITE_STEP_H_
#define TENSORD_ENGINE_PASSES_FINITE_STEP_H_

#include <optional>

#include "backends/api/expression.h"

namespace tensord {

// Whether a step of float32 numbers can make anything but finite numbers: a
// chain of 8-bit integers turns a NaN into 0, QuantizeLinear into its zero
// point.

// A number, or numbers, of a magnitude up to `largest`.
struct FiniteOperand {
  double largest = 0;
  std::optional<double> number = std::nullopt;  // where it is one that is known
};

// The largest magnitude of the step's results; nothing where one may be NaN, or
// too large for a sum or product with others in float32, or where it is not
// known. Of a step with one operand `b` is not looked at.
std::optional<double> LargestResultOf(const ExpressionStep& step,
                                      const FiniteOperand& a,
                                      const FiniteOperand& b);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_FINITE_STEP_H_
