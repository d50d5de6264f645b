#include "backends/cuda/libraries/chain_text.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/cuda/kernels/is_expression_step.h"
#include "backends/cuda/libraries/cubin_cache.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/backends/cuda/libraries/site_node.h"

namespace tensord::cuda {
namespace {

using ::testing::HasSubstr;

constexpr int32_t kNone = ExpressionStep::kNoOperand;

Expression SumOf(int32_t inputs) {
  Expression expression;
  expression.input_count = inputs;
  int32_t sum = 0;
  for (int32_t i = 1; i < inputs; ++i) {
    expression.steps.push_back({.op = OpKind::kAdd, .operands = {sum, i}});
    sum = inputs + i - 1;
  }
  return expression;
}

std::string TextOf(DType dtype, std::vector<Shape> shapes) {
  const SiteNode node = MakeSiteNode(
      dtype, shapes, SumOf(static_cast<int32_t>(shapes.size()) - 1));
  return MakeChainText(node.site(OpKind::kElementwiseChain)).text.text;
}

class ChainTextCompiled : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Nvrtc::Get().ok()) GTEST_SKIP() << Nvrtc::Get().status();
  }
};

TEST_F(ChainTextCompiled, EveryStepHasATextThatCompiles) {
  for (DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    Expression expression;
    expression.input_count = 2;
    expression.constants = {0.1, -1.0 / 0.0};
    for (int i = 0; i < kOpKindCount; ++i) {
      const auto op = static_cast<OpKind>(i);
      if (!IsExpressionStep(op)) continue;
      expression.steps.push_back(
          {.op = op, .operands = {0, 1}, .parameters = {0.5, 2}});
      expression.steps.push_back(
          {.op = OpKind::kAdd, .operands = {expression.ValueCount() - 1, 2}});
    }
    const SiteNode node =
        MakeSiteNode(dtype, {{6, 32}, {32}, {6, 32}}, expression);
    const NodeSite site = node.site(OpKind::kElementwiseChain);
    ASSERT_TRUE(CheckChainText(site).ok());
    const auto cubin = CompileToCubin(MakeChainText(site).text, "sm_90");
    ASSERT_TRUE(cubin.ok()) << DTypeName(dtype) << cubin.status();
    EXPECT_TRUE(absl::StartsWith(*cubin,
                                 "\x7f"
                                 "ELF"));
  }
}

TEST_F(ChainTextCompiled, AThousandStepsAreOneKernel) {
  Expression expression;
  expression.input_count = 1;
  expression.constants = {1.0009765625};
  for (int32_t i = 0; i < 1000; ++i) {
    const int32_t current = i == 0 ? 0 : i + 1;
    expression.steps.push_back(
        i % 2 == 0
            ? ExpressionStep{.op = OpKind::kAdd, .operands = {current, 1}}
            : ExpressionStep{.op = OpKind::kRelu,
                             .operands = {current, kNone}});
  }
  const SiteNode node = MakeSiteNode(DType::kFloat32, {{64}, {64}}, expression);
  const auto cubin = CompileToCubin(
      MakeChainText(node.site(OpKind::kElementwiseChain)).text, "sm_90");
  EXPECT_TRUE(cubin.ok()) << cubin.status();
}

TEST_F(ChainTextCompiled, ATextThatDoesNotCompileSaysWhy) {
  const auto cubin =
      CompileToCubin({.text = "nonsense", .headers = {}}, "sm_90");
  EXPECT_EQ(cubin.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(cubin.status().message()), HasSubstr("nonsense"));
}

TEST_F(ChainTextCompiled, AnUnknownArchitectureIsUnimplemented) {
  const auto cubin = CompileToCubin(
      {.text = "extern \"C\" __global__ void f() {}", .headers = {}}, "sm_1");
  EXPECT_EQ(cubin.status().code(), absl::StatusCode::kUnimplemented);
}

TEST_F(ChainTextCompiled, IsKeptOnDiskAndMadeAgainWhereItIsDamaged) {
  const std::string folder =
      absl::StrCat(testing::TempDir(), "/cubins_", getpid());
  const CubinCache cache(folder);
  const DeviceText text = {
      .text = "extern \"C\" __global__ void f(int* x) { *x = 1; }",
      .headers = {}};
  const auto made = cache.Get(text, "sm_90");
  ASSERT_TRUE(made.ok()) << made.status();
  const std::string file = cache.FileOf(text, "sm_90");
  ASSERT_TRUE(std::filesystem::exists(file)) << file;

  // What is found there is taken as it is.
  const auto time = std::filesystem::last_write_time(file);
  EXPECT_EQ(*cache.Get(text, "sm_90"), *made);
  EXPECT_EQ(std::filesystem::last_write_time(file), time);

  for (const char* damage : {"cut", "flipped"}) {
    if (std::string(damage) == "cut") {
      std::filesystem::resize_file(file, made->size() / 2);
    } else {
      std::fstream stream(file,
                          std::ios::in | std::ios::out | std::ios::binary);
      stream.seekp(100);
      stream.put('?');
    }
    EXPECT_EQ(*cache.Get(text, "sm_90"), *made) << damage;
    EXPECT_EQ(std::filesystem::file_size(file), made->size() + 32) << damage;
  }
  std::filesystem::remove_all(folder);
}

TEST_F(ChainTextCompiled, WithoutAFolderThatCanBeWrittenNothingIsKept) {
  for (const char* folder : {"", "/proc/tensord"}) {
    const CubinCache cache(folder);
    EXPECT_TRUE(
        cache
            .Get({.text = "extern \"C\" __global__ void f() {}", .headers = {}},
                 "sm_90")
            .ok())
        << folder;
  }
}

TEST(ChainText, ReadsPacksWhereRunsAreWhole) {
  EXPECT_THAT(TextOf(DType::kFloat32, {{4, 8}, {4, 8}, {4, 8}}),
              HasSubstr("Element at[4]"));
  EXPECT_THAT(TextOf(DType::kFloat16, {{4, 8}, {4, 8}, {4, 8}}),
              HasSubstr("Element at[8]"));
  EXPECT_THAT(TextOf(DType::kFloat32, {{3, 7}, {3, 7}, {3, 7}}),
              HasSubstr("Element at[1]"));
}

TEST(ChainText, ReadsWhatIsRepeatedOnce) {
  // A row for all, and an element for each row of whole packs.
  const std::string row = TextOf(DType::kFloat32, {{4, 8}, {8}, {4, 8}});
  EXPECT_THAT(row, HasSubstr("const Pack p1 = *(const Pack*)(in1 + ((first % "
                             "8u) * (Index)1u));"));
  const std::string column = TextOf(DType::kFloat32, {{4, 8}, {4, 1}, {4, 8}});
  EXPECT_THAT(column, HasSubstr("const Number v1 = ToNumber(in1[(first / 8u) * "
                                "(Index)1u]);"));
  const std::string one = TextOf(DType::kFloat32, {{4, 8}, {1}, {4, 8}});
  EXPECT_THAT(one, HasSubstr("const Number v1 = ToNumber(in1[0]);"));
}

TEST(ChainText, AnOffsetTakesPacksAway) {
  SiteNode node =
      MakeSiteNode(DType::kFloat32, {{4, 8}, {4, 8}, {4, 8}}, SumOf(2));
  node.layouts[1].offset = 2;
  EXPECT_THAT(MakeChainText(node.site(OpKind::kElementwiseChain)).text.text,
              HasSubstr("Element at[1]"));
}

TEST(ChainText, LongIndicesAreOfLargeResults) {
  EXPECT_THAT(
      TextOf(DType::kFloat32, {{1 << 16, 1 << 15}, {1}, {1 << 16, 1 << 15}}),
      HasSubstr("typedef unsigned long long Index"));
  EXPECT_THAT(TextOf(DType::kFloat32, {{4}, {4}, {4}}),
              HasSubstr("typedef unsigned int Index"));
}

TEST(ChainText, DeclinesWhatHasNone) {
  const SiteNode integers =
      MakeSiteNode(DType::kInt8, {{4}, {4}, {4}}, SumOf(2));
  EXPECT_EQ(CheckChainText(integers.site(OpKind::kElementwiseChain)).code(),
            absl::StatusCode::kUnimplemented);
  std::vector<Shape> many(258, Shape{4});
  const SiteNode wide = MakeSiteNode(DType::kFloat32, many, SumOf(257));
  EXPECT_THAT(
      std::string(
          CheckChainText(wide.site(OpKind::kElementwiseChain)).message()),
      HasSubstr("257"));
  Expression unknown = SumOf(2);
  unknown.steps[0].op = OpKind::kMatMul;
  const SiteNode step = MakeSiteNode(DType::kFloat32, {{4}, {4}, {4}}, unknown);
  EXPECT_FALSE(CheckChainText(step.site(OpKind::kElementwiseChain)).ok());
}

}  // namespace
}  // namespace tensord::cuda
