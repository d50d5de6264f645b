#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/ops/op_table.h"
#include "tests/engine/hostile/hostile_node_test.h"
#include "tests/support/matchers.h"

// Every operator, in several operator sets, with each of its inputs left out in
// turn ("" in the node): the others are of random dtypes and shapes, so that
// some of them get past the first checks of the shape rule.

namespace tensord {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kTrials = 6;    // of each input that is left out
constexpr int kMostMore = 3;  // optional inputs that are tried

// What some operators refuse to go without.
std::vector<std::pair<std::string, Attribute>> AttributesOf(OpKind op) {
  switch (op) {
    case OpKind::kCast:
    case OpKind::kBitCast:
      return {{"to", int64_t{1}}};
    case OpKind::kConcat:
      return {{"axis", int64_t{0}}};
    case OpKind::kEinsum:
      return {{"equation", std::string("ij,ij->i")}};
    case OpKind::kLRN:
      return {{"size", int64_t{1}}};
    case OpKind::kAveragePool:
    case OpKind::kMaxPool:
    case OpKind::kMaxUnpool:
    case OpKind::kLpPool:
      return {{"kernel_shape", Ints{1, 1}}};
    case OpKind::kGroupNormalization:
      return {{"num_groups", int64_t{1}}};
    default:
      return {};
  }
}

class LeftOutInputsTest : public HostileTest {
 protected:
  TestTensor RandomOperand() {
    static const Shape kShapes[] = {Shape(), {1},    {2},       {4},
                                    {2, 3},  {2, 2}, {1, 1, 2}, {1, 2, 4, 4}};
    static constexpr DType kDTypes[] = {
        DType::kFloat32, DType::kFloat32, DType::kFloat32, DType::kInt64,
        DType::kInt64,   DType::kInt32,   DType::kUInt8,   DType::kInt8,
        DType::kBool,    DType::kFloat16};
    const Shape& shape = kShapes[Draw(std::size(kShapes))];
    std::vector<double> values(shape.element_count());
    for (double& value : values) value = static_cast<double>(Draw(2));
    return TensorOf(kDTypes[Draw(std::size(kDTypes))], shape, values);
  }

  size_t Draw(size_t count) { return random_() % count; }

  // Serves it with `count` operands of which number `absent` is left out.
  void ServeWithout(const OpDef& def, int count, int absent, int64_t opset) {
    HostileNode node{.op = std::string(OpKindName(def.op)),
                     .attributes = AttributesOf(def.op),
                     .output_count = def.min_outputs,
                     .opset = opset};
    // Operands that are alike fit each other more often.
    const TestTensor first = RandomOperand();
    for (int i = 0; i < count; ++i) {
      node.operands.push_back(i == absent    ? kAbsent
                              : Draw(2) == 0 ? first
                                             : RandomOperand());
    }
    SCOPED_TRACE(absl::StrCat(node.op, " of ", count, " inputs without ",
                              absent, ", operator set ", opset));
    const auto is_answer =
        Not(StatusIs(absl::StatusCode::kInternal, HasSubstr("")));
    EXPECT_THAT(ServeConstants(node), is_answer);
    EXPECT_THAT(ServeInputs(node), is_answer);
  }

  std::mt19937 random_{7};
};

TEST_F(LeftOutInputsTest, EveryOperatorAnswersOrRefuses) {
  for (const OpDef& def : OpDefs()) {
    const int most =
        std::min(def.max_inputs,
                 std::max(def.min_inputs, def.required_inputs) + kMostMore);
    for (int count = std::max(def.min_inputs, 1); count <= most; ++count) {
      for (int absent = 0; absent < count; ++absent) {
        for (int trial = 0; trial < kTrials; ++trial) {
          ServeWithout(def, count, absent, trial % 2 == 0 ? 24 : 9);
        }
      }
    }
  }
}

const HostileNode kLacking[] = {
    {.name = "SliceWithoutStarts",
     .op = "Slice",
     .operands = {Vector({1, 2}), kAbsent, Vector({1})},
     .text = "input 1 is required and absent"},
    {.name = "SliceWithoutEnds",
     .op = "Slice",
     .operands = {Vector({1, 2}), Vector({1}), kAbsent, Vector({0})},
     .text = "input 2 is required and absent"},
    {.name = "SliceOfTwo",
     .op = "Slice",
     .operands = {Vector({1, 2}), Vector({1})},
     .text = "input 2 is required and absent"},
    {.name = "PadWithoutPads",
     .op = "Pad",
     .operands = {Vector({1, 2}), kAbsent, Scalar(1)},
     .text = "input 1 is required and absent"},
    {.name = "TopKWithoutK",
     .op = "TopK",
     .operands = {Tensor({2}, {1, 2}), kAbsent},
     .text = "input 1 is required and absent",
     .output_count = 2},
    {.name = "UnsqueezeWithoutAxes",
     .op = "Unsqueeze",
     .operands = {Vector({1, 2}), kAbsent},
     .text = "input 1 is required and absent"},
    {.name = "UpsampleWithoutScales",
     .op = "Upsample",
     .operands = {Tensor({2}, {1, 2}), kAbsent},
     .text = "input 1 is required and absent",
     .opset = 9},
};
INSTANTIATE_TEST_SUITE_P(Lacking, HostileNodeTest, testing::ValuesIn(kLacking),
                         NameOf);

}  // namespace
}  // namespace tensord
