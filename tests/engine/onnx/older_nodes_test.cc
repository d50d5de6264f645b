#include "engine/onnx/older_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/engine/onnx/model_text.h"

// Files of operator sets 1 to 6.

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// One node of that version with output y. a = [[1, 2], [3, 4]], b = [10, 20].
std::string Model(int opset, const std::string& node) {
  return absl::StrCat("opset_import { version: ", opset, "}", R"pb(
                        graph { initializer {
                          name: "a"
                          data_type: 1
                          dims: [ 2, 2 ]
                          float_data: [ 1, 2, 3, 4 ]
                        }
                                initializer {
                                  name: "b"
                                  data_type: 1
                                  dims: 2
                                  float_data: [ 10, 20 ]
                                }
                                output { name: "y" }
                                node { output: "y" name: "n")pb",
                      node, "} }");
}

TEST(OlderNodesTest, TheSecondOperandIsAlignedByAxis) {
  const auto add = [](const std::string& attributes) {
    return Model(6, R"pb(op_type: "Add"
                         input: [ "a", "b" ])pb" +
                        attributes);
  };
  const std::string broadcast =
      R"pb(attribute { name: "broadcast" type: INT i: 1 })pb";
  EXPECT_THAT(ValueOf(add(broadcast)).values<float>(),
              ElementsAre(11, 22, 13, 24));
  EXPECT_THAT(ValueOf(add(broadcast + R"pb(attribute { name: "axis" i: 1 })pb"))
                  .values<float>(),
              ElementsAre(11, 22, 13, 24));
  EXPECT_THAT(ValueOf(add(broadcast + R"pb(attribute { name: "axis" i: 0 })pb"))
                  .values<float>(),
              ElementsAre(11, 12, 23, 24));
  EXPECT_THAT(
      RefusalOf(add(broadcast + R"pb(attribute { name: "axis" i: -2 })pb")),
      HasSubstr("attribute 'axis': -2: only axes from 0 on"));
  EXPECT_THAT(RefusalOf(add(R"pb(attribute { name: "broadcast" i: 7 })pb")),
              HasSubstr("attribute 'broadcast': 7, not 0 or 1"));
  EXPECT_THAT(RefusalOf(add(R"pb(attribute { name: "alpha" i: 7 })pb")),
              HasSubstr("unknown attribute 'alpha'"));
}

TEST(OlderNodesTest, OperatorSet7BroadcastsByItself) {
  EXPECT_THAT(
      RefusalOf(Model(7, R"pb(op_type: "Add"
                              input: [ "a", "b" ]
                              attribute { name: "broadcast" i: 1 })pb")),
      HasSubstr("unknown attribute 'broadcast' in operator set 7"));
}

TEST(OlderNodesTest, ASlopeForEachChannelIsAlignedWithTheChannels) {
  const absl::StatusOr<GraphDef> def =
      ReadText(Model(6, R"pb(op_type: "PRelu"
                             input: [ "a", "b" ])pb"));
  ASSERT_TRUE(def.ok()) << def.status();
  // Axes 1 to rank - 1: [C] becomes [C, 1, 1] for an image.
  EXPECT_EQ(NodesOf(*def),
            "Constant() -> fn0.0/Constant; Shape(a) -> fn0.1/Shape; "
            "Size(fn0.1/Shape) -> fn0.2/Size; "
            "Sub(fn0.2/Size, fn0.0/Constant) -> fn0.3/Sub; "
            "Range(fn0.0/Constant, fn0.3/Sub, fn0.0/Constant) -> fn0.4/Range; "
            "Unsqueeze(b, fn0.4/Range) -> fn0.5/Unsqueeze; "
            "PRelu(a, fn0.5/Unsqueeze) -> y");
  EXPECT_EQ(def->opset, kMinOpset);
}

TEST(OlderNodesTest, TrainingIsRefused) {
  const auto norm = [](const std::string& attributes) {
    return Model(6, R"pb(op_type: "BatchNormalization"
                         input: [ "a", "b", "b", "b", "b" ])pb" +
                        attributes);
  };
  EXPECT_EQ(RefusalOf(norm(R"pb(attribute { name: "is_test" i: 1 })pb")), "");
  EXPECT_THAT(RefusalOf(norm("")),
              HasSubstr("'is_test' is 0: training is not supported"));
  EXPECT_THAT(RefusalOf(Model(6, R"pb(op_type: "Dropout" input: "a")pb")),
              HasSubstr("'is_test' is 0"));
}

TEST(OlderNodesTest, AttributesHadOtherNamesAndForms) {
  EXPECT_EQ(ValueOf(Model(1, R"pb(op_type: "Concat"
                                  input: [ "a", "a" ])pb"))
                .shape(),
            Shape({2, 4}));  // axis 1
  EXPECT_THAT(ValueOf(Model(1, R"pb(op_type: "Cast"
                                    input: "b"
                                    attribute { name: "to" s: "INT64" })pb"))
                  .values<int64_t>(),
              ElementsAre(10, 20));
  EXPECT_THAT(
      RefusalOf(Model(1, R"pb(op_type: "Cast"
                              input: "b"
                              attribute { name: "to" s: "int64" })pb")),
      HasSubstr("attribute 'to': 'int64' is no dtype"));
  EXPECT_EQ(
      ValueOf(Model(4, R"pb(op_type: "Reshape"
                            input: "a"
                            attribute { name: "shape" ints: 4 }
                            attribute { name: "consumed_inputs" ints: 0 })pb"))
          .shape(),
      Shape({4}));
  EXPECT_EQ(ValueOf(Model(1, R"pb(op_type: "Pad"
                                  input: "a"
                                  attribute {
                                    name: "paddings"
                                    ints: [ 0, 1, 0, 0 ]
                                  })pb"))
                .shape(),
            Shape({2, 3}));
  EXPECT_THAT(
      ValueOf(Model(1, R"pb(op_type: "Relu"
                            input: "b"
                            attribute { name: "consumed_inputs" ints: 0 })pb"))
          .values<float>(),
      ElementsAre(10, 20));
  EXPECT_EQ(RefusalOf(Model(6, R"pb(op_type: "Gemm"
                                    input: [ "a", "a", "b" ]
                                    attribute { name: "broadcast" i: 1 })pb")),
            "");
}

TEST(OlderNodesTest, OtherMeaningsAreRefusedByName) {
  EXPECT_THAT(RefusalOf(Model(6, R"pb(op_type: "Upsample" input: "a")pb")),
              HasSubstr("node 'n' (Upsample): it is not supported in operator "
                        "set 6, only from 7 on"));
  EXPECT_THAT(RefusalOf(Model(5, R"pb(op_type: "Tile" input: "a")pb")),
              HasSubstr("Tile as operator set 5 has it is not supported"));
  EXPECT_THAT(RefusalOf(Model(1, R"pb(op_type: "Split"
                                      input: [ "a", "b" ])pb")),
              HasSubstr("Split as operator set 1 has it"));
  EXPECT_THAT(RefusalOf(Model(6, R"pb(op_type: "Crop" input: "a")pb")),
              HasSubstr("operator 'Crop' of domain ''"));
}

}  // namespace
}  // namespace tensord
