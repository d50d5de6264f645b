#include "backends/cuda/libraries/conv_problem.h"

#include <limits>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/backends/cuda/libraries/site_node.h"

namespace tensord::cuda {
namespace {

constexpr int32_t kNone = ExpressionStep::kNoOperand;

TEST(ConvProblem, HasTheNodesExtents) {
  ConvParams params;
  params.strides = {2, 1};
  params.pads = {1, 0, 2, 3};
  params.group = 2;
  const SiteNode node = MakeSiteNode(
      DType::kFloat32, {{5, 8, 9, 7}, {6, 4, 3, 3}, {6}, {5, 6, 5, 8}}, params);
  const auto conv = ResolveConv(node.site(OpKind::kConv));
  ASSERT_TRUE(conv.ok()) << conv.status();
  const ConvProblem& problem = conv->problem;
  EXPECT_EQ(problem.images, 5);
  EXPECT_EQ(problem.input_channels, 8);
  EXPECT_EQ(problem.output_channels, 6);
  EXPECT_EQ(problem.spatial_rank, 2);
  EXPECT_THAT(problem.inputs, testing::ElementsAre(9, 7, 1));
  EXPECT_THAT(problem.outputs, testing::ElementsAre(5, 8, 1));
  EXPECT_THAT(problem.pads_begin, testing::ElementsAre(1, 0, 0));
  EXPECT_THAT(problem.pads_end, testing::ElementsAre(2, 3, 0));
  EXPECT_EQ(conv->bias_input, 2);
  EXPECT_EQ(problem.WeightCount(), 6 * 4 * 9);
}

TEST(ConvProblem, OneSpatialDimensionIsTheSecondOfTwo) {
  const SiteNode node = MakeSiteNode(
      DType::kFloat32, {{1, 4, 10}, {8, 4, 3}, {1, 8, 8}}, ConvParams());
  const auto conv = ResolveConv(node.site(OpKind::kConv));
  ASSERT_TRUE(conv.ok()) << conv.status();
  EXPECT_EQ(conv->problem.spatial_rank, 2);
  EXPECT_THAT(conv->problem.inputs, testing::ElementsAre(1, 10, 1));
  EXPECT_THAT(conv->problem.taps, testing::ElementsAre(1, 3, 1));
}

TEST(ConvProblem, OneTapWithChannelsLastIsAProduct) {
  const auto resolve = [](bool is_channels_last, int64_t stride) {
    ConvParams params;
    params.channels_last = is_channels_last;
    params.strides = {stride, stride};
    const int64_t out = (8 + stride - 1) / stride;
    const SiteNode node =
        is_channels_last
            ? MakeSiteNode(DType::kFloat16,
                           {{2, 8, 8, 16}, {32, 16, 1, 1}, {2, out, out, 32}},
                           params)
            : MakeSiteNode(DType::kFloat16,
                           {{2, 16, 8, 8}, {32, 16, 1, 1}, {2, 32, out, out}},
                           params);
    return ResolveConv(node.site(OpKind::kConv))->problem.IsProduct();
  };
  EXPECT_TRUE(resolve(true, 1));
  EXPECT_FALSE(resolve(true, 2));
  EXPECT_FALSE(resolve(false, 1));
}

TEST(ConvProblem, TakesAResidualAndABias) {
  ConvParams params;
  params.channels_last = true;
  SiteNode node = MakeSiteNode(
      DType::kFloat16,
      {{1, 4, 4, 8}, {8, 8, 1, 1}, {}, {1, 4, 4, 8}, {8}, {1, 4, 4, 8}},
      WithSteps(params, 3, 3,
                {{.op = OpKind::kAdd, .operands = {0, 1}},
                 {.op = OpKind::kAdd, .operands = {3, 2}},
                 {.op = OpKind::kClip,
                  .operands = {4, kNone},
                  .parameters = {0, 6}}}));
  node.dtypes[2] = DType::kUndefined;  // Conv's own bias
  const auto conv = ResolveConv(node.site(OpKind::kConv));
  ASSERT_TRUE(conv.ok()) << conv.status();
  EXPECT_EQ(conv->addend_input, 3);
  EXPECT_EQ(conv->bias_input, 4);
  EXPECT_EQ(conv->problem.activation, Activation::kClip);
  EXPECT_EQ(conv->problem.high, 6);
}

TEST(ConvProblem, AClipIsOfTheFormOfRelu) {
  const auto resolve = [](double low, double high) {
    const SiteNode node = MakeSiteNode(
        DType::kFloat32, {{1, 8, 4, 4}, {8, 8, 1, 1}, {1, 8, 4, 4}},
        WithSteps(ConvParams(), 2, 1,
                  {{.op = OpKind::kClip,
                    .operands = {0, kNone},
                    .parameters = {low, high}}}));
    return ResolveConv(node.site(OpKind::kConv));
  };
  EXPECT_EQ(resolve(0, 6)->problem.activation, Activation::kClip);
  EXPECT_EQ(
      resolve(0, std::numeric_limits<double>::infinity())->problem.activation,
      Activation::kRelu);
  EXPECT_TRUE(absl::StrContains(resolve(-1, 6).status().message(), "-1"));
  EXPECT_FALSE(resolve(0, 0).ok());
}

TEST(ConvProblem, DeclinesWhatItHasNoTermFor) {
  const SiteNode four =
      MakeSiteNode(DType::kFloat32,
                   {{1, 2, 3, 3, 3, 3}, {2, 2, 1, 1, 1, 1}, {1, 2, 3, 3, 3, 3}},
                   ConvParams());
  EXPECT_TRUE(absl::StrContains(
      ResolveConv(four.site(OpKind::kConv)).status().message(), "rank 4"));
  const SiteNode empty =
      MakeSiteNode(DType::kFloat32, {{0, 8, 4, 4}, {8, 8, 1, 1}, {0, 8, 4, 4}},
                   ConvParams());
  EXPECT_EQ(ResolveConv(empty.site(OpKind::kConv)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  SiteNode row = MakeSiteNode(
      DType::kFloat32, {{1, 8, 4, 4}, {8, 8, 1, 1}, {}, {4}, {1, 8, 4, 4}},
      WithSteps(ConvParams(), 3, 2,
                {{.op = OpKind::kAdd, .operands = {0, 1}}}));
  row.dtypes[2] = DType::kUndefined;
  EXPECT_TRUE(absl::StrContains(
      ResolveConv(row.site(OpKind::kConv)).status().message(), "[4]"));
}

}  // namespace
}  // namespace tensord::cuda
