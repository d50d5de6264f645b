#include <memory>

#include "engine/compiled/compiled_node.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_backend.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr DType kF32 = DType::kFloat32;

class CompileNodeTest : public testing::Test {
 protected:
  CompileNodeTest() { EXPECT_THAT(table_.AddBackend(backend_), IsOk()); }

  FakeBackend backend_{BackendId::kVulkan};
  KernelBindingTable table_;
};

TEST_F(CompileNodeTest, ResolvesTheKernelOfTheTriple) {
  const auto node = CompileNode(OpKind::kAdd, {kF32, kF32, kF32}, 2,
                                BackendId::kVulkan, NoParams{}, table_);
  ASSERT_THAT(node, IsOk());
  EXPECT_EQ(node->op, OpKind::kAdd);
  EXPECT_EQ(node->output_dtype(), kF32);
  EXPECT_NE(node->kernel, nullptr);
  EXPECT_EQ(node->kernel, node->entry->run);
}

TEST_F(CompileNodeTest, TheIdentityIsThatOfTheBoundKernel) {
  const auto node = CompileNode(OpKind::kAdd, {kF32, kF32, kF32}, 2,
                                BackendId::kVulkan, NoParams{}, table_);
  const std::optional<KernelIdent> ident = DispatchedKernelIdent(*node);
  ASSERT_TRUE(ident.has_value());
  EXPECT_EQ(ident->kernel_source, node->entry->source);
  EXPECT_EQ(ident->kernel_revision_hash,
            backend_.KernelRevision(node->entry->source));
}

TEST_F(CompileNodeTest, AViewHasNoKernelIdentity) {
  EXPECT_FALSE(DispatchedKernelIdent(CompiledNode()).has_value());
}

// Relu has two siblings; the first takes only multiples of four elements.
TEST_F(CompileNodeTest, TheFirstSiblingThatAcceptsWins) {
  const auto compile = [&](int64_t elements, std::vector<Layout> layouts) {
    layouts.assign(2, Layout::Contiguous(Shape({elements})));
    return CompileNode(OpKind::kRelu, {kF32, kF32}, 1, BackendId::kVulkan,
                       NoParams{}, table_, {.layouts = layouts});
  };
  const auto fast = compile(8, {});
  const auto general = compile(9, {});
  ASSERT_THAT(fast, IsOk());
  ASSERT_THAT(general, IsOk());
  EXPECT_STRNE(fast->entry->name, general->entry->name);
}

TEST_F(CompileNodeTest, SaysWhichSiblingsDeclinedAlsoOnSuccess) {
  const std::vector<Layout> layouts(2, Layout::Contiguous(Shape({9})));
  std::vector<NoBackendForOp::Declined> declined;
  ASSERT_THAT(CompileNode(OpKind::kRelu, {kF32, kF32}, 1, BackendId::kVulkan,
                          NoParams{}, table_,
                          {.layouts = layouts, .declined = &declined}),
              IsOk());
  ASSERT_EQ(declined.size(), 1);
  EXPECT_THAT(declined[0].reason, HasSubstr("9"));
}

TEST_F(CompileNodeTest, OnlyARequestThatAllowsItIsRounded) {
  const auto name = [&](Precision precision) {
    const auto node =
        CompileNode(OpKind::kMul, {kF32, kF32, kF32}, 2, BackendId::kVulkan,
                    NoParams{}, table_, {.precision = precision});
    EXPECT_THAT(node, IsOk());
    EXPECT_EQ(node->precision, precision);
    return std::string(node->entry->name);
  };
  EXPECT_EQ(name(Precision::kStrict), "fake_mul");
  EXPECT_EQ(name(Precision::kAllowTf32), "fake_mul");
  EXPECT_EQ(name(Precision::kAllowBf16), "fake_mul_rounded");
}

// Says of every node what the test says.
class FixedChoice final : public KernelChoice {
 public:
  explicit FixedChoice(MeasuredSite site)
      : site_(std::make_shared<const MeasuredSite>(std::move(site))) {}
  std::shared_ptr<const MeasuredSite> Find(const NodeSite&,
                                           const DeviceInfo&) const override {
    return site_;
  }

 private:
  std::shared_ptr<const MeasuredSite> site_;
};

TEST_F(CompileNodeTest, WhatWasMeasuredComesBeforeTheOrder) {
  const DeviceInfo device;
  const std::vector<Layout> layouts(2, Layout::Contiguous(Shape({8})));
  std::vector<NoBackendForOp::Declined> declined;
  NodeKnowledge knowledge{
      .layouts = layouts, .device = &device, .declined = &declined};
  const auto kernel = [&](const KernelChoice& measured) -> std::string {
    knowledge.measured = &measured;
    const auto node =
        CompileNode(OpKind::kRelu, {kF32, kF32}, 1, BackendId::kVulkan,
                    NoParams{}, table_, knowledge);
    return node.ok() ? node->entry->name : node.status().ToString();
  };
  const FixedChoice second(
      {{{"fake_relu_by_4", 12'000}, {"fake_relu", 8'000}}, 1});
  EXPECT_EQ(kernel(second), "fake_relu");
  ASSERT_EQ(declined.size(), 1);
  EXPECT_EQ(declined[0].kernel, "fake_relu_by_4");
  EXPECT_EQ(declined[0].reason, "slower when measured: 12 us against 8");

  const FixedChoice wrong(
      {{{"fake_relu_by_4", 0, false}, {"fake_relu", 8'000}}, 1});
  EXPECT_EQ(kernel(wrong), "fake_relu");
  EXPECT_THAT(declined[0].reason, HasSubstr("beyond the tolerance"));

  // A kernel that is not there, or is not known to take the node any more.
  EXPECT_EQ(kernel(FixedChoice({{{"gone", 1}}, 0})), "fake_relu_by_4");
  knowledge.require_deterministic = true;
  EXPECT_EQ(kernel(second), "fake_relu_by_4");
  knowledge.require_deterministic = false;
  knowledge.device = nullptr;
  EXPECT_EQ(kernel(second), "fake_relu_by_4");
}

TEST_F(CompileNodeTest, AMeasuredKernelThatDeclinesNowIsNotTaken) {
  const DeviceInfo device;
  const std::vector<Layout> layouts(2, Layout::Contiguous(Shape({9})));
  const FixedChoice by_4({{{"fake_relu_by_4", 1}, {"fake_relu", 2}}, 0});
  const auto node = CompileNode(
      OpKind::kRelu, {kF32, kF32}, 1, BackendId::kVulkan, NoParams{}, table_,
      {.layouts = layouts, .device = &device, .measured = &by_4});
  ASSERT_THAT(node, IsOk());
  EXPECT_STREQ(node->entry->name, "fake_relu");
}

// MatMul's only kernel sums up a row of the output in its workspace.
TEST_F(CompileNodeTest, AKernelThatNeedsMoreScratchMemoryThanThereIsDeclines) {
  const std::vector<Layout> layouts = {Layout::Contiguous(Shape({2, 3})),
                                       Layout::Contiguous(Shape({3, 5})),
                                       Layout::Contiguous(Shape({2, 5}))};
  const auto compile = [&](uint64_t max_workspace_bytes) {
    return CompileNode(
        OpKind::kMatMul, {kF32, kF32, kF32}, 2, BackendId::kVulkan, NoParams{},
        table_,
        {.layouts = layouts, .max_workspace_bytes = max_workspace_bytes});
  };
  EXPECT_THAT(compile(20), IsOk());
  EXPECT_THAT(compile(19), StatusIs(absl::StatusCode::kUnimplemented,
                                    HasSubstr("needs 20 bytes")));
}

TEST_F(CompileNodeTest, AnUnboundDtypeIsNoBackendForOpWithWhatThereIs) {
  const DType f64 = DType::kFloat64;
  const auto node = CompileNode(OpKind::kMatMul, {f64, f64, f64}, 2,
                                BackendId::kVulkan, NoParams{}, table_);
  EXPECT_THAT(node, StatusIs(absl::StatusCode::kUnimplemented,
                             AllOf(HasSubstr("MatMul"), HasSubstr("float64"),
                                   HasSubstr("vulkan takes float32"))));
  const auto detail = NoBackendForOp::FromStatus(node.status());
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->op, "MatMul");
  EXPECT_EQ(detail->input_count, 2);
  EXPECT_THAT(detail->dtypes, ElementsAre(f64, f64, f64));
  EXPECT_THAT(detail->available_backends, ElementsAre(BackendId::kVulkan));
  ASSERT_EQ(detail->supported.size(), 1);
  EXPECT_EQ(detail->supported[0].dtypes.back(), kF32);
}

// The diagnosis of the specification's own system once listed no backend where
// a dtype was the cause; the two cases are told apart here.
TEST_F(CompileNodeTest, AnOperatorThatNoBackendHasSaysSo) {
  const auto node = CompileNode(OpKind::kSinh, {kF32, kF32}, 1,
                                BackendId::kVulkan, NoParams{}, table_);
  EXPECT_THAT(node, StatusIs(absl::StatusCode::kUnimplemented,
                             HasSubstr("no backend here has this operator")));
}

TEST_F(CompileNodeTest, AnotherBackendThatHasTheOperatorIsNamed) {
  const auto node = CompileNode(OpKind::kAdd, {kF32, kF32, kF32}, 2,
                                BackendId::kCuda, NoParams{}, table_);
  const auto detail = NoBackendForOp::FromStatus(node.status());
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->backend, BackendId::kCuda);
  EXPECT_THAT(detail->available_backends, ElementsAre(BackendId::kVulkan));
}

TEST_F(CompileNodeTest, ANodesNameJoinsTextAndDetail) {
  const absl::Status status =
      WithNode(CompileNode(OpKind::kSinh, {kF32, kF32}, 1, BackendId::kVulkan,
                           NoParams{}, table_)
                   .status(),
               "wave\n1");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnimplemented,
                               HasSubstr("node 'wave\\n1'")));
  EXPECT_EQ(NoBackendForOp::FromStatus(status)->node, "wave\n1");
}

TEST_F(CompileNodeTest, TheTextIsCapped) {
  NoBackendForOp detail{.op = "Relu"};
  for (int i = 0; i < 500; ++i) {
    detail.declined.push_back(
        {BackendId::kCpu, "kernel", std::string(100, 'r')});
  }
  EXPECT_LE(detail.ToStatus().message().size(), NoBackendForOp::kMaxTextBytes);
}

TEST_F(CompileNodeTest, AStatusWithoutThePayloadHasNoDetail) {
  EXPECT_FALSE(
      NoBackendForOp::FromStatus(absl::UnimplementedError("x")).has_value());
}

TEST_F(CompileNodeTest, ADamagedPayloadIsNoDetail) {
  absl::Status status = absl::UnimplementedError("x");
  status.SetPayload("tensord.engine/NoBackendForOp", absl::Cord("\xff\xff"));
  EXPECT_FALSE(NoBackendForOp::FromStatus(status).has_value());
}

TEST_F(CompileNodeTest, ABackendIsAddedOnce) {
  EXPECT_THAT(
      table_.AddBackend(backend_),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("vulkan")));
}

TEST_F(CompileNodeTest, AnUnknownCostIsNotFree) {
  const auto node = CompileNode(OpKind::kAdd, {kF32, kF32, kF32}, 2,
                                BackendId::kVulkan, NoParams{}, table_);
  EXPECT_GT(node->estimated_ns, 0);
}

}  // namespace
}  // namespace tensord
