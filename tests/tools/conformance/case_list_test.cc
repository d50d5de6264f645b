#include "tools/conformance/case_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/conformance/case_maker.h"

namespace tensord::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kTitles[] =
    "case\tfolder\top\topset\ttier\tdtypes\ttolerance\tflags\tnodes\n";

TEST(CaseListTest, ColumnsAreFoundByTheirTitles) {
  const auto cases = ParseCaseList(
      absl::StrCat(kTitles,
                   "test_a\tnode\tAdd\tai.onnx:14\t1\tfloat\trtol=2e-3\t"
                   "expanded,float16\t7\n",
                   "test_b\tsimple\tRelu\tai.onnx:9\t3\tfloat\t\t\t1\n"));
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_THAT(*cases, SizeIs(2));
  const Case& a = cases->at(0);
  EXPECT_EQ(a.Id(), "node/test_a");
  EXPECT_EQ(a.op, "Add");
  EXPECT_EQ(a.opset, "ai.onnx:14");
  EXPECT_EQ(a.tier, 1);
  EXPECT_EQ(a.tolerance, "rtol=2e-3");
  EXPECT_THAT(a.flags, ElementsAre("expanded", "float16"));
  EXPECT_EQ(cases->at(1).tier, 3);
  EXPECT_EQ(cases->at(1).tolerance, "");
  EXPECT_THAT(cases->at(1).flags, IsEmpty());
}

TEST(CaseListTest, OtherOrdersAndFewerColumnsWillDo) {
  const auto cases = ParseCaseList("folder\tcase\nnode\ttest_a\n");
  ASSERT_TRUE(cases.ok()) << cases.status();
  EXPECT_EQ(cases->at(0).Id(), "node/test_a");
  EXPECT_EQ(cases->at(0).tier, 0);
}

TEST(CaseListTest, WhatIsWrongIsNamedByItsLine) {
  const auto error = [](const std::string& lines) {
    return std::string(
        ParseCaseList(absl::StrCat(kTitles, lines)).status().message());
  };
  EXPECT_THAT(error("test_a\n"), HasSubstr("line 2: it has no case"));
  EXPECT_THAT(error("test_a\tnode\nTest\tnode\ntest_a\tnode\n"),
              HasSubstr("line 4: it is there twice"));
  EXPECT_THAT(error("test_a\tnode\tAdd\t\tfirst\n"),
              HasSubstr("line 2: tier \"first\""));
  EXPECT_THAT(error("test_a\t..\n"), HasSubstr("no name of a folder"));
  EXPECT_THAT(error("a/../../b\tnode\n"), HasSubstr("no name of a folder"));
  EXPECT_THAT(error(""), HasSubstr("no case"));
  EXPECT_FALSE(ParseCaseList("name\tfolder\n").ok());
}

TEST(CaseListTest, AFolderWithoutAListIsReadFromItsModels) {
  const ctl::TempFolder root;
  onnx::ModelProto model = IdentityModel();
  root.Add("node/test_b/model.onnx", model.SerializeAsString());
  model.mutable_graph()->mutable_node(0)->set_op_type("Bernoulli");
  root.Add("node/test_a/model.onnx", model.SerializeAsString());
  *model.mutable_graph()->add_node() = model.graph().node(0);
  root.Add("light/test_net/model.onnx", model.SerializeAsString());
  root.Add("node/readme/README.md", "no case");
  const auto cases = FindCases(root.path());
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_THAT(*cases, SizeIs(3));
  EXPECT_EQ(cases->at(0).Id(), "light/test_net");
  EXPECT_EQ(cases->at(0).op, "(network)");
  EXPECT_EQ(cases->at(1).Id(), "node/test_a");
  EXPECT_THAT(cases->at(1).tolerance, HasSubstr("random"));
  EXPECT_EQ(cases->at(2).op, "Identity");
  EXPECT_EQ(cases->at(2).opset, "ai.onnx:17");
  EXPECT_EQ(cases->at(2).tolerance, "");
}

TEST(CaseListTest, AFolderWithoutCasesIsAnError) {
  const ctl::TempFolder root;
  EXPECT_FALSE(FindCases(root.path()).ok());
  EXPECT_FALSE(FindCases(root.PathOf("nowhere")).ok());
}

}  // namespace
}  // namespace tensord::conformance
