#include "engine/tune/site_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

namespace tensord {
namespace {

// A node that a test changes one part of.
struct TestSite {
  OpKind op = OpKind::kConv;
  std::vector<DType> dtypes = {DType::kFloat32, DType::kFloat32,
                               DType::kFloat32};
  std::vector<Layout> layouts = {Layout::Contiguous(Shape{1, 3, 8, 8}),
                                 Layout::Contiguous(Shape{4, 3, 3, 3}),
                                 Layout::Contiguous(Shape{1, 4, 6, 6})};
  std::vector<const std::byte*> constants = {nullptr, nullptr};
  OpParams params = ConvParams{.kernel_shape = {3, 3}};
  Precision precision = Precision::kStrict;

  std::string Key() const {
    return SiteKey({.op = op,
                    .dtypes = dtypes,
                    .input_count = 2,
                    .layouts = layouts,
                    .host_constants = constants,
                    .params = params,
                    .precision = precision});
  }
};

template <typename Change>
std::string KeyWith(Change change) {
  TestSite site;
  change(site);
  return site.Key();
}

TEST(SiteKey, IsTheSameForTheSameNode) {
  EXPECT_EQ(TestSite().Key(), TestSite().Key());
  EXPECT_EQ(TestSite().Key().size(), 32);
}

TEST(SiteKey, EveryPartOfANodeCounts) {
  static const std::vector<float> weight(4 * 3 * 3 * 3, 1);
  const auto* bytes = reinterpret_cast<const std::byte*>(weight.data());
  Expression relu;
  relu.input_count = 1;
  relu.steps = {{OpKind::kRelu, {0, ExpressionStep::kNoOperand}}};
  Expression leaky = relu;
  leaky.steps[0].op = OpKind::kLeakyRelu;
  leaky.steps[0].parameters = {0.5, 0};
  Expression steeper = leaky;
  steeper.steps[0].parameters = {0.25, 0};
  const auto fuse = [](TestSite& site, const Expression& expression) {
    site.params.epilogue = std::make_shared<Epilogue>(Epilogue{2, expression});
  };
  const std::vector<std::string> keys = {
      TestSite().Key(),
      KeyWith([](TestSite& s) { s.op = OpKind::kConvTranspose; }),
      KeyWith([](TestSite& s) { s.dtypes[0] = DType::kFloat16; }),
      KeyWith([](TestSite& s) { s.dtypes[2] = DType::kFloat16; }),
      KeyWith([](TestSite& s) { s.layouts[0].strides[3] = 2; }),
      KeyWith([](TestSite& s) {
        s.layouts[0] = Layout::Contiguous(Shape{1, 3, 8, 9});
      }),
      KeyWith([](TestSite& s) { s.precision = Precision::kAllowTf32; }),
      KeyWith([&](TestSite& s) { s.constants[1] = bytes; }),
      KeyWith([&](TestSite& s) { s.constants[0] = bytes; }),
      KeyWith([](TestSite& s) { s.params = PoolParams(); }),
      KeyWith([](TestSite& s) { s.params = NoParams(); }),
      KeyWith([](TestSite& s) {
        s.params = ConvParams{.kernel_shape = {3, 3}, .strides = {2, 2}};
      }),
      KeyWith([](TestSite& s) {
        s.params = ConvParams{.kernel_shape = {3, 3}, .dilations = {2, 2}};
      }),
      KeyWith([](TestSite& s) {
        s.params = ConvParams{.kernel_shape = {3, 3}, .group = 2};
      }),
      KeyWith([](TestSite& s) {
        s.params = ConvParams{.kernel_shape = {3, 3}, .channels_last = true};
      }),
      KeyWith([&](TestSite& s) { fuse(s, relu); }),
      KeyWith([&](TestSite& s) { fuse(s, leaky); }),
      KeyWith([&](TestSite& s) { fuse(s, steeper); }),
  };
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(),
            keys.size());
}

// All layers of one shape share a measurement, but axes decide a kernel's way.
TEST(SiteKey, ContentsCountForShortIntegersAlone) {
  const std::vector<float> one(4 * 3 * 3 * 3, 1), two(4 * 3 * 3 * 3, 2);
  const auto with = [](const void* constant) {
    return KeyWith([&](TestSite& s) {
      s.constants[1] = static_cast<const std::byte*>(constant);
    });
  };
  EXPECT_EQ(with(one.data()), with(two.data()));
  const std::vector<int64_t> axis_one = {1}, axis_two = {2};
  const auto with_axes = [](const std::vector<int64_t>& axes) {
    return KeyWith([&](TestSite& s) {
      s.dtypes[1] = DType::kInt64;
      s.layouts[1] = Layout::Contiguous(Shape{1});
      s.constants[1] = reinterpret_cast<const std::byte*>(axes.data());
    });
  };
  EXPECT_NE(with_axes(axis_one), with_axes(axis_two));
}

}  // namespace
}  // namespace tensord
