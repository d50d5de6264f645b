#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/expression.h"
#include "tests/backends/cuda/named_node.h"
#include "tests/backends/cuda/special_values.h"

// Nodes of elementwise_chain.cu.
namespace tensord::cuda {
namespace {

constexpr int32_t kNone = ExpressionStep::kNoOperand;

NamedNode Chain(const std::string& name, DType dtype, Expression expression,
                std::vector<Shape> inputs, Shape y) {
  TestNode node{.op = OpKind::kElementwiseChain, .outputs = {{dtype, y}}};
  expression.input_count = static_cast<int32_t>(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    node.inputs.push_back(Pattern(dtype, inputs[i], i + 1));
  }
  node.params = std::move(expression);
  Tolerance tolerance = ToleranceFor(dtype, OpFamily::kTranscendental);
  if (dtype == DType::kInt8 || dtype == DType::kUInt8) {
    tolerance = ToleranceFor(dtype, OpFamily::kQuantized);
  }
  return {absl::StrCat("chain_", DTypeName(dtype), "_", name), std::move(node),
          tolerance};
}

// (a + b) * sigmoid(a + b) - 0.5 * b: a result that two later steps read, and
// one that none but the next does.
Expression Gated() {
  return {.constants = {0.5},
          .steps = {{OpKind::kAdd, {0, 1}},
                    {OpKind::kSigmoid, {3, kNone}},
                    {OpKind::kMul, {2, 1}},
                    {OpKind::kMul, {3, 4}},
                    {OpKind::kSub, {6, 5}}}};
}

void AddGated(std::vector<NamedNode>& nodes) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16,
                            DType::kFloat64, DType::kInt8, DType::kUInt8}) {
    const Shape odd = {5, 67};
    nodes.push_back(Chain("gated", dtype, Gated(), {odd, odd}, odd));
    nodes.push_back(
        Chain("gated_by_a_row", dtype, Gated(), {{6, 16}, {16}}, {6, 16}));
    nodes.push_back(
        Chain("gated_by_a_column", dtype, Gated(), {{6, 7}, {6, 1}}, {6, 7}));
    nodes.push_back(Chain("gated_by_a_number", dtype, Gated(), {{}, odd}, odd));
  }
}

// Every step of one operand, with parameters that suit all of them.
void AddFunctions(std::vector<NamedNode>& nodes) {
  for (const OpKind op : {OpKind::kAbs,         OpKind::kAcos,
                          OpKind::kAsinh,       OpKind::kAtan,
                          OpKind::kCeil,        OpKind::kCelu,
                          OpKind::kClip,        OpKind::kCos,
                          OpKind::kCosh,        OpKind::kElu,
                          OpKind::kErf,         OpKind::kExp,
                          OpKind::kFloor,       OpKind::kGelu,
                          OpKind::kHardSigmoid, OpKind::kHardSwish,
                          OpKind::kLeakyRelu,   OpKind::kLog,
                          OpKind::kMish,        OpKind::kNeg,
                          OpKind::kReciprocal,  OpKind::kRelu,
                          OpKind::kRound,       OpKind::kSelu,
                          OpKind::kSign,        OpKind::kSin,
                          OpKind::kSinh,        OpKind::kSoftplus,
                          OpKind::kSoftsign,    OpKind::kSqrt,
                          OpKind::kSwish,       OpKind::kTan,
                          OpKind::kTanh,        OpKind::kThresholdedRelu}) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
      const Expression expression = {.steps = {{OpKind::kSub, {0, 1}},
                                               {op, {2, kNone}, {0.3, 0.8}},
                                               {OpKind::kAdd, {3, 1}}}};
      nodes.push_back(Chain(std::string(OpKindName(op)), dtype, expression,
                            {{33}, {33}}, {33}));
    }
  }
  for (const OpKind op :
       {OpKind::kMax, OpKind::kMin, OpKind::kDiv, OpKind::kPRelu}) {
    const Expression expression = {
        .steps = {{op, {0, 1}}, {OpKind::kMul, {2, 0}}}};
    nodes.push_back(Chain(std::string(OpKindName(op)), DType::kFloat32,
                          expression, {{33}, {33}}, {33}));
  }
}

void AddLong(std::vector<NamedNode>& nodes) {
  // As many steps and inputs as are taken.
  Expression expression;
  for (int32_t i = 0; i < 32; ++i) {
    const int32_t before = i == 0 ? 0 : 8 + i - 1;
    expression.steps.push_back(
        {i % 2 == 0 ? OpKind::kAdd : OpKind::kSub, {before, i % 8}});
  }
  nodes.push_back(Chain("of_eight", DType::kFloat32, expression,
                        std::vector<Shape>(8, Shape({19})), {19}));
  nodes.push_back(
      Chain("of_none", DType::kFloat32, Gated(), {{0, 3}, {3}}, {0, 3}));
}

}  // namespace

std::vector<NamedNode> ChainNodes() {
  std::vector<NamedNode> nodes;
  AddGated(nodes);
  AddFunctions(nodes);
  AddLong(nodes);
  return nodes;
}

}  // namespace tensord::cuda
