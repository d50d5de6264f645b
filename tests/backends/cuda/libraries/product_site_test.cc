#include "backends/cuda/libraries/product_site.h"

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/backends/cuda/libraries/site_node.h"

namespace tensord::cuda {
namespace {

// v0 + x1, then `activation`, behind a MatMul.
OpParams WithEpilogue(OpKind activation, double parameter = 0) {
  return WithSteps(NoParams{}, 2, 2,
                   {{.op = OpKind::kAdd, .operands = {1, 0}},
                    {.op = activation,
                     .operands = {2, ExpressionStep::kNoOperand},
                     .parameters = {parameter, 6}}});
}

TEST(ProductSite, RowsOfABatchThatMeetsOneMatrixAreOneTallMatrix) {
  const SiteNode node =
      MakeSiteNode(DType::kFloat16, {{8, 128, 768}, {768, 64}, {8, 128, 64}});
  const auto product = ResolveProduct(node.site(OpKind::kMatMul));
  ASSERT_TRUE(product.ok()) << product.status();
  EXPECT_EQ(product->problem.m, 8 * 128);
  EXPECT_EQ(product->problem.n, 64);
  EXPECT_EQ(product->problem.k, 768);
  EXPECT_EQ(product->problem.batch, 1);
}

TEST(ProductSite, OneRowOfMatricesMeetsABatch) {
  const SiteNode node =
      MakeSiteNode(DType::kFloat32, {{3, 4}, {2, 5, 4, 6}, {2, 5, 3, 6}});
  const auto product = ResolveProduct(node.site(OpKind::kMatMul));
  ASSERT_TRUE(product.ok()) << product.status();
  EXPECT_EQ(product->problem.batch, 10);
  EXPECT_EQ(product->problem.a_batch_stride, 0);
  EXPECT_EQ(product->problem.b_batch_stride, 24);
}

TEST(ProductSite, ABatchThatRepeatsInPartIsDeclined) {
  const SiteNode node =
      MakeSiteNode(DType::kFloat32, {{2, 1, 3, 4}, {2, 5, 4, 6}, {2, 5, 3, 6}});
  EXPECT_EQ(ResolveProduct(node.site(OpKind::kMatMul)).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(ProductSite, AnEmptySumIsDeclined) {
  const SiteNode node = MakeSiteNode(DType::kFloat32, {{3, 0}, {0, 6}, {3, 6}});
  EXPECT_EQ(ResolveProduct(node.site(OpKind::kMatMul)).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(ProductSite, TheEpiloguesVectorIsTheBias) {
  const SiteNode node =
      MakeSiteNode(DType::kFloat32, {{4, 8}, {8, 16}, {16}, {4, 16}},
                   WithEpilogue(OpKind::kRelu));
  const auto product = ResolveProduct(node.site(OpKind::kMatMul));
  ASSERT_TRUE(product.ok()) << product.status();
  EXPECT_EQ(product->bias_input, 2);
  EXPECT_EQ(product->addend_input, -1);
  EXPECT_TRUE(product->problem.has_bias);
  EXPECT_EQ(product->problem.activation, Activation::kRelu);
}

TEST(ProductSite, TheEpiloguesMatrixIsTheAddend) {
  const SiteNode node =
      MakeSiteNode(DType::kFloat32, {{4, 8}, {8, 16}, {4, 16}, {4, 16}},
                   WithEpilogue(OpKind::kRelu));
  const auto product = ResolveProduct(node.site(OpKind::kMatMul));
  ASSERT_TRUE(product.ok()) << product.status();
  EXPECT_EQ(product->bias_input, -1);
  EXPECT_EQ(product->addend_input, 2);
  EXPECT_EQ(product->problem.beta, 1);
}

TEST(ProductSite, AColumnThatIsAddedIsDeclined) {
  const SiteNode node =
      MakeSiteNode(DType::kFloat32, {{4, 8}, {8, 16}, {4, 1}, {4, 16}},
                   WithEpilogue(OpKind::kRelu));
  const auto status = ResolveProduct(node.site(OpKind::kMatMul)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(absl::StrContains(status.message(), "[4, 1]")) << status;
}

TEST(ProductSite, GemmsScaledVectorIsNoBias) {
  GemmParams params;
  params.beta = 0.5f;
  const SiteNode scaled =
      MakeSiteNode(DType::kFloat32, {{4, 8}, {8, 16}, {16}, {4, 16}}, params);
  EXPECT_FALSE(ResolveProduct(scaled.site(OpKind::kGemm)).ok());
  const SiteNode whole = MakeSiteNode(
      DType::kFloat32, {{4, 8}, {8, 16}, {4, 16}, {4, 16}}, params);
  const auto product = ResolveProduct(whole.site(OpKind::kGemm));
  ASSERT_TRUE(product.ok()) << product.status();
  EXPECT_EQ(product->problem.beta, 0.5f);
  EXPECT_EQ(product->addend_input, 2);
}

TEST(ProductSite, GeluByErfIsComputedByTanhOnlyInsideTheTolerance) {
  const auto accepts = [](DType dtype, int64_t depth, double by_tanh) {
    const SiteNode node =
        MakeSiteNode(dtype, {{4, depth}, {depth, 16}, {16}, {4, 16}},
                     WithEpilogue(OpKind::kGelu, by_tanh));
    return ResolveProduct(node.site(OpKind::kMatMul)).ok();
  };
  EXPECT_TRUE(accepts(DType::kFloat32, 8, 1));
  EXPECT_FALSE(accepts(DType::kFloat32, 4096, 0));
  EXPECT_TRUE(accepts(DType::kFloat16, kMinDepthOfGeluByTanh, 0));
  EXPECT_FALSE(accepts(DType::kFloat16, kMinDepthOfGeluByTanh - 1, 0));
}

TEST(ProductSite, OtherActivationsAreDeclinedByName) {
  for (OpKind op : {OpKind::kTanh, OpKind::kClip}) {
    const SiteNode node = MakeSiteNode(
        DType::kFloat16, {{4, 8}, {8, 16}, {16}, {4, 16}}, WithEpilogue(op));
    const auto status = ResolveProduct(node.site(OpKind::kMatMul)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_TRUE(absl::StrContains(status.message(), OpKindName(op))) << status;
  }
}

TEST(ProductSite, WithoutShapesTheRestIsJudged) {
  SiteNode node =
      MakeSiteNode(DType::kFloat16, {{4, 8}, {8, 16}, {16}, {4, 16}},
                   WithEpilogue(OpKind::kGelu));
  node.layouts.clear();
  EXPECT_TRUE(ResolveProduct(node.site(OpKind::kMatMul)).ok());
  node.params = WithEpilogue(OpKind::kTanh);
  EXPECT_FALSE(ResolveProduct(node.site(OpKind::kMatMul)).ok());
}

TEST(ProductSite, AnOffsetLimitsTheAlignment) {
  SiteNode node = MakeSiteNode(DType::kFloat16, {{4, 8}, {8, 16}, {4, 16}});
  EXPECT_EQ(ResolveProduct(node.site(OpKind::kMatMul))->problem.alignment, 16u);
  node.layouts[1].offset = 2;
  EXPECT_EQ(ResolveProduct(node.site(OpKind::kMatMul))->problem.alignment, 4u);
}

}  // namespace
}  // namespace tensord::cuda
