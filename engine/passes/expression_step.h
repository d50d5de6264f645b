#ifndef TENSORD_ENGINE_PASSES_EXPRESSION_STEP_H_
#define TENSORD_ENGINE_PASSES_EXPRESSION_STEP_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "backends/api/expression.h"
#include "engine/graph/graph.h"
#include "engine/infer/infer.h"

namespace tensord {

// What one node computes at each element, as a step of an expression whose
// operands are yet to be set: they are the node's inputs of these indices.
struct ElementwiseStep {
  ExpressionStep step;
  int operand_count = 1;
  std::array<int, 2> operand_inputs = {0, 1};
};

// Nothing for a node that is not element-wise on one floating dtype, or whose
// other inputs (Clip's bounds) are not known.
std::optional<ElementwiseStep> ElementwiseStepOf(const Node& node,
                                                 const Inference& inference);

// What a node computes at each element as an expression of its inputs, each of
// which is listed once: an ElementwiseChain's own, or one step. Nothing for
// other nodes.
struct ElementwiseExpression {
  Expression expression;
  std::vector<ValueId> inputs;
};
std::optional<ElementwiseExpression> ExpressionOf(const Node& node,
                                                  const Inference& inference);

// The most results that a fused expression holds at once; each costs a kernel a
// block of scratch.
inline constexpr int32_t kMaxFusedPlaces = 12;

// The number that a known value of one element of a numeric dtype is. Nothing
// for an integer that a double cannot hold.
std::optional<double> KnownScalar(const Inference& inference, ValueId value);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_EXPRESSION_STEP_H_
