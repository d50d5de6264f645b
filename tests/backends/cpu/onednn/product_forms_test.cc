#include "backends/cpu/onednn/product_forms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "tests/support/matchers.h"

namespace tensord::onednn {
namespace {

using ::testing::IsNull;
using ::testing::NotNull;

ProductSite Site(int64_t m, bool has_constant_b = true) {
  return {.m = m,
          .n = 128,
          .k = 96,
          .a_row = 96,
          .b_row = 128,
          .has_constant_b = has_constant_b};
}

TEST(ProductFormsTest, EqualProductsShareTheirFormsAndPrimitives) {
  const auto forms = ProductForms::Of(Site(64));
  ASSERT_THAT(forms, IsOk());
  const auto same = ProductForms::Of(Site(64));
  EXPECT_EQ(*same, *forms);
  const auto primitive = (*forms)->primitive(false, false);
  ASSERT_THAT(primitive, IsOk());
  EXPECT_THAT(*primitive, NotNull());
  EXPECT_EQ(*(*same)->primitive(false, false), *primitive);
}

TEST(ProductFormsTest, EveryPartOfASiteTellsFormsApart) {
  const ProductSite site = Site(64);
  const auto forms = *ProductForms::Of(site);
  std::vector<ProductSite> others(9, site);
  others[0].m = 65;
  others[1].n = 127;
  others[2].k = 95;
  others[3].a_row = 97;
  others[4].b_row = 1;
  others[4].b_column = 96;
  others[5].scale = 2;
  others[6].has_bias = true;
  others[7].has_constant_b = false;
  others[8].a_row = 1;
  others[8].a_column = 64;
  for (size_t i = 0; i < others.size(); ++i) {
    const auto other = ProductForms::Of(others[i]);
    ASSERT_THAT(other, IsOk()) << i;
    EXPECT_NE(*other, forms) << i;
  }
}

// As a client may give a Gemm's alpha.
TEST(ProductFormsTest, AScaleThatIsNoNumberIsItself) {
  ProductSite site = Site(64);
  site.scale = std::numeric_limits<float>::quiet_NaN();
  const auto forms = ProductForms::Of(site);
  ASSERT_THAT(forms, IsOk());
  EXPECT_EQ(*ProductForms::Of(site), *forms);
}

TEST(ProductFormsTest, AFormThatNoPartHasHasNoPrimitive) {
  const auto forms = *ProductForms::Of(Site(16));
  ASSERT_EQ(forms->rows().rest(), 0);
  const auto primitive = forms->primitive(true, false);
  ASSERT_THAT(primitive, IsOk());
  EXPECT_THAT(*primitive, IsNull());
}

// Those in use live on; the others are made anew.
TEST(ProductFormsTest, TheOldestAreForgotten) {
  const auto first = *ProductForms::Of(Site(64));
  for (uint64_t bytes = 0; bytes <= ProductForms::kKeptBytes;) {
    static int64_t m = 1000;
    const auto other = ProductForms::Of(Site(++m));
    ASSERT_THAT(other, IsOk());
    bytes += (*other)->footprint_bytes();
  }
  EXPECT_NE(*ProductForms::Of(Site(64)), first);
  EXPECT_THAT(first->primitive(false, false), IsOk());
}

TEST(ProductFormsTest, ManyThreadsAtOnceGetOnePrimitive) {
  const auto forms = *ProductForms::Of(Site(777));
  std::vector<const Primitive*> primitives(8);
  std::vector<std::thread> threads;
  for (const Primitive*& primitive : primitives) {
    threads.emplace_back([&] { primitive = *forms->primitive(false, false); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(primitives, ::testing::Each(primitives[0]));
}

// What makes the primitives of convolutions cheap for another compilation.
TEST(PrimitiveCacheTest, TheLibraryKeepsPrimitives) {
  int capacity = 0;
  ASSERT_EQ(dnnl_get_primitive_cache_capacity(&capacity), dnnl_success);
  EXPECT_GE(capacity, 1024);
}

}  // namespace
}  // namespace tensord::onednn
