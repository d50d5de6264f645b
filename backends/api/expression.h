#ifndef TENSORD_BACKENDS_API_EXPRESSION_H_
#define TENSORD_BACKENDS_API_EXPRESSION_H_

#include <array>
#include <cstdint>
#include <vector>

#include "backends/api/op_kind.h"

namespace tensord {

// One operator of an expression, on up to two values that were there before.
struct ExpressionStep {
  OpKind op;
  // Numbers of values, see Expression; kNoOperand where there are fewer.
  std::array<int32_t, 2> operands;
  // What the operator's parameters say: LeakyRelu's, Elu's, Celu's,
  // ThresholdedRelu's and Swish's alpha; HardSigmoid's alpha and beta; Selu's
  // alpha and gamma; Clip's least and largest; 1 for a Gelu by tanh.
  std::array<double, 2> parameters = {};

  static constexpr int32_t kNoOperand = -1;
};

// A function of elements: what a chain of element-wise operators computes at
// each place of its output. In the form that compilers like: each value is
// assigned once and numbered. First come the inputs, then the constants, then
// the steps' results; a step reads only values before its own, and the last
// step's is the result. So a backend can interpret it, or print it as text for
// a compiler.
//
// Threading and ownership: a plain value.
struct Expression {
  int32_t input_count = 0;
  std::vector<double> constants;
  std::vector<ExpressionStep> steps;

  int32_t FirstStepValue() const {
    return input_count + static_cast<int32_t>(constants.size());
  }
  int32_t ValueCount() const {
    return FirstStepValue() + static_cast<int32_t>(steps.size());
  }
};

// A place for each step's result such that results that are needed at the same
// time have different ones, as few as walking the steps in order needs. A
// result may take the place of an operand that it is the last to read.
struct ExpressionPlaces {
  std::vector<int32_t> place;  // by step
  int32_t count = 0;           // of places
};
ExpressionPlaces AssignPlaces(const Expression& expression);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_EXPRESSION_H_
