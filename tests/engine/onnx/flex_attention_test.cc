#include "engine/onnx/flex_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/engine/onnx/model_text.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using testing::HasSubstr;

// A tensor of a graph: "q", of any shape of that rank.
std::string Value(const std::string& name, int elem_type, int rank = 4) {
  std::string dims;
  for (int d = 0; d < rank; ++d) absl::StrAppend(&dims, "dim {} ");
  return absl::StrCat("name: '", name,
                      "' type { tensor_type { elem_type: ", elem_type,
                      " shape { ", dims, "} } }");
}

// FlexAttention of q, k and v with these attributes; the graph also has an
// input "bias".
std::string Model(const std::string& attributes, int elem_type = 1,
                  const std::string& operands = "input: ['q', 'k', 'v']") {
  std::string graph;
  for (const char* name : {"q", "k", "v", "bias"}) {
    absl::StrAppend(&graph, "input { ", Value(name, elem_type), "} ");
  }
  return absl::StrCat(
      "opset_import { version: 26 } "
      "opset_import { domain: 'ai.onnx.preview' version: 1 } graph { ",
      graph, "output { name: 'y' } node { name: 'n' op_type: 'FlexAttention' ",
      "domain: 'ai.onnx.preview' ", operands, " output: 'y' ", attributes,
      "} }");
}

// A modifier whose nodes make "out" of "in".
std::string Modifier(const std::string& name, const std::string& nodes,
                     int elem_type = 1) {
  return absl::StrCat("attribute { name: '", name, "' type: GRAPH g { input { ",
                      Value("in", elem_type), "} output { ",
                      Value("out", elem_type), "} ", nodes, " } } ");
}

constexpr char kSame[] =
    "node { op_type: 'Identity' input: 'in' output: 'out' }";
constexpr char kDouble[] =
    "node { op_type: 'Add' input: ['in', 'in'] output: 'out' }";
// "bias" is of the graph around.
constexpr char kBiased[] =
    "node { op_type: 'Add' input: ['in', 'bias'] output: 'out' }";

// Two queries' heads for a key's, and values of another size than the keys.
std::vector<TestTensor> Operands(DType dtype = DType::kFloat32) {
  return {Pattern(dtype, {2, 4, 3, 8}, 1), Pattern(dtype, {2, 2, 5, 8}, 2),
          Pattern(dtype, {2, 2, 5, 6}, 3), Pattern(dtype, {2, 4, 3, 5}, 4)};
}

// What the operator Attention gives.
TestTensor Expected(
    const std::vector<TestTensor>& operands, bool is_biased,
    std::vector<std::pair<std::string, Attribute>> attributes = {}) {
  OpCase test{.op = "Attention",
              .inputs = {operands[0], operands[1], operands[2]},
              .attributes = std::move(attributes),
              .opset = 24};
  if (is_biased) test.inputs.push_back(operands[3]);
  return MustRunOp(test);
}

TestTensor MustRun(const std::string& model,
                   const std::vector<TestTensor>& operands) {
  const auto outputs = RunText(model, operands);
  EXPECT_THAT(outputs, IsOk());
  return outputs.ok() ? outputs->front() : TestTensor();
}

TEST(FlexAttentionTest, WithoutGraphsItIsAttention) {
  const std::string model = Model(
      "attribute { name: 'scale' type: FLOAT f: 0.5 } "
      "attribute { name: 'softmax_precision' type: INT i: 1 }");
  const auto def = ReadText(model);
  ASSERT_THAT(def, IsOk());
  EXPECT_EQ(NodesOf(*def), "Attention(q, k, v) -> y");
  EXPECT_EQ(def->nodes[0].name, "n");
  EXPECT_EQ(RefusalOf(model), "");
  EXPECT_EQ(MustRun(model, Operands()),
            Expected(Operands(), false, {{"scale", 0.5f}}));
}

TEST(FlexAttentionTest, GraphsThatChangeNothingChangeNothing) {
  for (const auto& [dtype, elem_type] :
       {std::pair(DType::kFloat32, 1), std::pair(DType::kFloat64, 11)}) {
    const std::vector<TestTensor> operands = Operands(dtype);
    for (const std::string& attributes :
         {Modifier("score_mod", kSame, elem_type),
          Modifier("prob_mod", kSame, elem_type),
          Modifier("score_mod", kSame, elem_type) +
              Modifier("prob_mod", kSame, elem_type)}) {
      EXPECT_THAT(MustRun(Model(attributes, elem_type), operands),
                  IsNear(Expected(operands, false),
                         ToleranceFor(dtype, OpFamily::kContraction, 8)));
    }
  }
}

TEST(FlexAttentionTest, GraphsChangeScoresAndProbabilities) {
  const Tolerance tolerance =
      ToleranceFor(DType::kFloat32, OpFamily::kContraction, 8);
  const TestTensor biased = Expected(Operands(), true, {{"scale", 0.25f}});
  const std::string attributes =
      Modifier("score_mod", kBiased) +
      "attribute { name: 'scale' type: FLOAT f: 0.25 } ";
  EXPECT_THAT(MustRun(Model(attributes), Operands()),
              IsNear(biased, tolerance));
  std::vector<double> doubled;
  for (int64_t i = 0; i < biased.shape.element_count(); ++i) {
    doubled.push_back(2 * biased.At(i));
  }
  EXPECT_THAT(
      MustRun(Model(attributes + Modifier("prob_mod", kDouble)), Operands()),
      IsNear(TensorOf(DType::kFloat32, biased.shape, doubled), tolerance));
}

// Scores are float32 unless the operands are float64.
TEST(FlexAttentionTest, SixteenBitOperandsAreWidened) {
  const std::vector<TestTensor> operands = Operands(DType::kFloat16);
  EXPECT_THAT(MustRun(Model(Modifier("score_mod", kSame), 10), operands),
              IsNear(Expected(operands, false),
                     ToleranceFor(DType::kFloat16, OpFamily::kContraction)));
}

TEST(FlexAttentionTest, RefusesWhatTheOperatorDoesNotHave) {
  EXPECT_THAT(RefusalOf(Model("", 1, "input: ['q', 'k']")),
              HasSubstr("node 'n' (FlexAttention): 2 inputs and 1 outputs"));
  EXPECT_THAT(RefusalOf(Model("", 1, "input: ['q', '', 'v']")),
              HasSubstr("where a FlexAttention has 3, all given"));
  EXPECT_THAT(
      RefusalOf(Model("attribute { name: 'is_causal' type: INT i: 1 }")),
      HasSubstr("attribute 'is_causal': a FlexAttention has no such"));
  EXPECT_THAT(
      RefusalOf(Model("attribute { name: 'score_mod' type: INT i: 1 }")),
      HasSubstr("attribute 'score_mod': is int, where a graph is needed"));
  EXPECT_THAT(RefusalOf(Model("attribute { name: 'prob_mod' type: GRAPH g { "
                              "output { name: 'bias' } } }")),
              HasSubstr("'prob_mod': a graph of 0 inputs and 1 outputs"));
  EXPECT_THAT(
      RefusalOf(Model(Modifier("score_mod", kSame) +
                      "attribute { name: 'softmax_precision' type: INT i: 7 "
                      "}")),
      HasSubstr("'softmax_precision': 7 is not the number of a floating"));
  EXPECT_THAT(RefusalOf(Model(Modifier("score_mod", kSame, 7))),
              HasSubstr("'softmax_precision': 7 is not"));
  EXPECT_THAT(RefusalOf(Model(Modifier("score_mod", kSame) +
                              "attribute { name: 'scale' type: INT i: 7 }")),
              HasSubstr("scale"));
}

TEST(FlexAttentionTest, RefusesOperandsThatDoNotFit) {
  std::vector<TestTensor> operands = Operands();
  operands[2] = Pattern(DType::kFloat32, {2, 1, 5, 6});
  for (const std::string& attributes :
       {std::string(), Modifier("score_mod", kSame)}) {
    EXPECT_EQ(RunText(Model(attributes), operands).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

// Each stands for some twenty nodes.
TEST(FlexAttentionTest, ManyNodesAreRefusedBeforeTheyTakeMuchMemory) {
  onnx::ModelProto model = ModelFromText(Model(Modifier("score_mod", kSame)));
  const onnx::NodeProto node = model.graph().node(0);
  for (int i = 0; i < 40'000; ++i) {
    onnx::NodeProto& copy = *model.mutable_graph()->add_node();
    copy = node;
    copy.set_output(0, absl::StrCat("y", i));
  }
  EXPECT_THAT(RefusalOf(model), HasSubstr("bytes of names and attributes"));
}

}  // namespace
}  // namespace tensord
