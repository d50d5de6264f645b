#ifndef TENSORD_BACKENDS_CPU_KERNELS_BYTE_PLAN_H_
#define TENSORD_BACKENDS_CPU_KERNELS_BYTE_PLAN_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "absl/types/span.h"
#include "backends/api/expression.h"
#include "backends/api/layout.h"
#include "backends/cpu/kernels/expression_plan.h"
#include "backends/cpu/kernels/vector_integers.h"

namespace tensord {

// An expression of one or two inputs that is a sum of them, each times a
// number, and of a constant, brought to a range at last:
//
//   y = clamp(factor_a * a + factor_b * b + constant, low, high)
//
// What a residual that is added between integers is, or a change of scale.
struct LinearExpression {
  static constexpr int kNone = -1;
  std::array<int, 2> inputs = {kNone, kNone};  // a and b, if there is one
  std::array<double, 2> factors = {};
  double constant = 0;
  double low = 0, high = 0;
};
// Nothing for an expression that is something else.
std::optional<LinearExpression> LinearExpressionOf(
    const Expression& expression);

// ExpressionPlan for 8-bit integers: sums are computed in one loop.
//
// Threading: immutable; any number of threads evaluate at once.
template <typename T>
class BytePlan {
 public:
  // As ExpressionPlan's.
  BytePlan(const Expression& expression, absl::Span<const Layout> inputs,
           const Shape& result)
      : any_(expression, inputs, result) {
    const std::optional<LinearExpression> linear =
        LinearExpressionOf(expression);
    if (!linear.has_value()) return;
    for (int input : linear->inputs) {
      if (input != LinearExpression::kNone &&
          inputs[input].shape.element_count() != result.element_count()) {
        return;
      }
    }
    constexpr double kLeast = std::numeric_limits<T>::min();
    constexpr double kMost = std::numeric_limits<T>::max();
    const auto to_integer = [](double bound) {
      return static_cast<int32_t>(std::nearbyint(bound));
    };
    inputs_ = linear->inputs;
    sum_ = ByteSumNumbers{
        .factor_a = static_cast<float>(linear->factors[0]),
        .factor_b = static_cast<float>(linear->factors[1]),
        .constant = static_cast<float>(linear->constant),
        .least = to_integer(std::clamp(linear->low, kLeast, kMost)),
        .most = to_integer(std::clamp(linear->high, kLeast, kMost))};
  }

  int64_t grain() const { return sum_.has_value() ? kSumGrain : any_.grain(); }
  uint64_t footprint_bytes() const { return any_.footprint_bytes(); }

  template <typename InputOf>
  void Evaluate(int64_t begin, int64_t end, InputOf input_of, T* y) const {
    if (!sum_.has_value()) return any_.Evaluate(begin, end, input_of, y);
    const bool has_b = inputs_[1] != LinearExpression::kNone;
    TheIntegerLoops().add<T>()(input_of(inputs_[0]) + begin,
                               has_b ? input_of(inputs_[1]) + begin : nullptr,
                               *sum_, end - begin, y + begin);
  }

 private:
  static constexpr int64_t kSumGrain = 128 * 1024;  // some 20 us of work

  const ExpressionPlan<T> any_;
  std::array<int, 2> inputs_ = {};
  std::optional<ByteSumNumbers> sum_;
};

// The plan for elements of T.
template <typename T>
using PlanOf = std::conditional_t<kIsByte<T>, BytePlan<T>, ExpressionPlan<T>>;

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_BYTE_PLAN_H_
