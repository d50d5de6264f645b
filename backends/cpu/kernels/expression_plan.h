#ifndef TENSORD_BACKENDS_CPU_KERNELS_EXPRESSION_PLAN_H_
#define TENSORD_BACKENDS_CPU_KERNELS_EXPRESSION_PLAN_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "backends/api/expression.h"
#include "backends/api/float16.h"
#include "backends/api/layout.h"
#include "backends/cpu/kernels/step_functions.h"
#include "backends/cpu/kernels/strided_walk.h"
#include "backends/cpu/kernels/vector_integers.h"

namespace tensord {

// Elements of 8-bit integers, which steps compute in float.
template <typename T>
inline constexpr bool kIsByte =
    std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t>;

// An expression ready to be evaluated: where the operands of each step are and
// what it does with them, worked out once per node.
//
//   y[i] = f(x0[i], x1[i], ...), all broadcast to y's shape
//
// One step at a time is done for a block of elements, which stays in the first
// cache; steps compute in ComputeType<T>, or float for an 8-bit integer, so a
// 16-bit result is rounded once, when it is stored; and so is an integer, to
// the nearest (of two the even one), and saturated.
//
// Threading: immutable; any number of threads evaluate at once.
// Ownership: owns a copy of the expression; borrows operands for a call.
template <typename T>
class ExpressionPlan {
 public:
  using Number = std::conditional_t<kIsByte<T>, float, ComputeType<T>>;

  // `inputs` are the expression's inputs, contiguous, which broadcast to
  // `result`. The expression is one that CheckExpression accepts.
  ExpressionPlan(const Expression& expression, absl::Span<const Layout> inputs,
                 const Shape& result) {
    std::vector<Operand> values;
    for (const Layout& input : inputs) {
      values.push_back(PlanInput(input, result, values.size()));
    }
    for (const double constant : expression.constants) {
      values.push_back(
          {.kind = Kind::kNumber, .number = static_cast<Number>(constant)});
    }
    const ExpressionPlaces places = AssignPlaces(expression);
    int64_t weight = 0;
    for (size_t i = 0; i < expression.steps.size(); ++i) {
      const ExpressionStep& step = expression.steps[i];
      Step& planned = steps_.emplace_back();
      planned.step = step;
      planned.function = FindStepFunction<Number>(step.op);
      for (int k = 0; k < 2; ++k) {
        if (step.operands[k] != ExpressionStep::kNoOperand) {
          planned.operands[k] = values[step.operands[k]];
        }
      }
      planned.place = places.place[i];
      values.push_back({.kind = Kind::kPlace, .index = planned.place});
      weight += IsCostlyStep(step.op) ? kCostlyWeight : 1;
    }
    grain_ = std::max(kBlock, kCheapGrain / weight);
  }

  // Elements that are worth handing to another thread.
  int64_t grain() const { return grain_; }

  // Host bytes beyond the object.
  uint64_t footprint_bytes() const {
    return steps_.capacity() * sizeof(Step) +
           walks_.capacity() * sizeof(StridedWalk<1>);
  }

  // Elements [begin, end) of y, by their place in row-major order.
  // input_of(i) is the first element of the expression's input i. y may be the
  // buffer of an input of its own size: a block is read before it is written.
  template <typename InputOf>
  void Evaluate(int64_t begin, int64_t end, InputOf input_of, T* y) const {
    Scratch scratch;
    for (int64_t at = begin; at < end; at += kBlock) {
      EvaluateBlock(at, std::min(kBlock, end - at), input_of, scratch, y);
    }
  }

 private:
  static constexpr int64_t kBlock = kExpressionBlock;
  static constexpr int64_t kCheapGrain = 32 * 1024;  // some 20 us of work
  static constexpr int64_t kCostlyWeight = 8;

  enum class Kind : uint8_t {
    kNone,
    kNumber,    // the same for all elements
    kPlace,     // a step's result
    kWhole,     // an input of y's size
    kElement,   // an input of one element
    kRepeated,  // any other input, walked by walks_[walk]
  };
  struct Operand {
    Kind kind = Kind::kNone;
    int32_t index = 0;
    int32_t walk = 0;
    Number number = 0;
  };
  struct Step {
    ExpressionStep step;
    StepFunction<Number> function = nullptr;
    std::array<Operand, 2> operands;
    int32_t place = 0;
  };
  using Block = std::array<Number, kBlock>;
  struct Scratch {
    std::array<Block, kMaxExpressionPlaces> places;
    std::array<Block, 2> operands;
  };

  Operand PlanInput(const Layout& input, const Shape& result, size_t index) {
    Operand operand{.kind = Kind::kWhole, .index = static_cast<int32_t>(index)};
    const int64_t elements = input.shape.element_count();
    if (elements == result.element_count()) return operand;
    if (elements == 1) {
      operand.kind = Kind::kElement;
      return operand;
    }
    operand.kind = Kind::kRepeated;
    operand.walk = static_cast<int32_t>(walks_.size());
    walks_.emplace_back(
        result, [&](int, int d) { return BroadcastStride(input, result, d); });
    return operand;
  }

  template <typename InputOf>
  void EvaluateBlock(int64_t at, int64_t length, InputOf input_of,
                     Scratch& scratch, T* y) const {
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      const StepOperand<Number> a =
          Resolve(step.operands[0], at, length, input_of, scratch, 0);
      const StepOperand<Number> b =
          Resolve(step.operands[1], at, length, input_of, scratch, 1);
      Number* result = scratch.places[step.place].data();
      if constexpr (std::is_same_v<T, Number>) {
        if (i + 1 == steps_.size()) result = y + at;
      }
      step.function(step.step, a, b, length, result);
    }
    if constexpr (kIsByte<T>) {
      TheIntegerLoops().quantize<T>()(
          scratch.places[steps_.back().place].data(), 1, 0, length, y + at);
    } else if constexpr (!std::is_same_v<T, Number>) {
      std::copy_n(scratch.places[steps_.back().place].data(), length, y + at);
    }
  }

  template <typename InputOf>
  StepOperand<Number> Resolve(const Operand& operand, int64_t at,
                              int64_t length, InputOf input_of,
                              Scratch& scratch, int side) const {
    switch (operand.kind) {
      case Kind::kNone:
        return {};
      case Kind::kNumber:
        return StepOperand<Number>::Scalar(operand.number);
      case Kind::kPlace:
        return StepOperand<Number>::Block(scratch.places[operand.index].data());
      case Kind::kElement:
        return StepOperand<Number>::Scalar(
            static_cast<Number>(*input_of(operand.index)));
      case Kind::kWhole:
      case Kind::kRepeated:
        break;
    }
    const T* x = input_of(operand.index);
    Number* copy = scratch.operands[side].data();
    if (operand.kind == Kind::kRepeated) {
      Gather(walks_[operand.walk], x, at, length, copy);
      return StepOperand<Number>::Block(copy);
    }
    if constexpr (std::is_same_v<T, Number>) {
      return StepOperand<Number>::Block(x + at);
    } else if constexpr (kIsByte<T>) {
      TheIntegerLoops().dequantize<T>()(x + at, 1, 0, length, copy);
      return StepOperand<Number>::Block(copy);
    } else {
      std::copy_n(x + at, length, copy);
      return StepOperand<Number>::Block(copy);
    }
  }

  static void Gather(const StridedWalk<1>& walk, const T* x, int64_t begin,
                     int64_t length, Number* to) {
    const int64_t step = walk.strides[0][walk.rank - 1];
    walk.ForRange(
        begin, begin + length,
        [&](int64_t at, const std::array<int64_t, 1>& offsets, int64_t count) {
          const T* run = x + offsets[0];
          if (step == 0) {
            std::fill_n(to + (at - begin), count, static_cast<Number>(*run));
          } else {
            std::copy_n(run, count, to + (at - begin));
          }
        });
  }

  std::vector<Step> steps_;
  std::vector<StridedWalk<1>> walks_;
  int64_t grain_ = 0;
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_EXPRESSION_PLAN_H_
