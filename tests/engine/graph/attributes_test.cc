#include "engine/graph/attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tensord {
namespace {

TEST(AttributesTest, AnAbsentAttributeHasItsDefault) {
  const Attributes attributes;
  EXPECT_EQ(*attributes.Int("axis", -1), -1);
  EXPECT_EQ(*attributes.String("mode", "constant"), "constant");
  EXPECT_TRUE(attributes.Ints("pads")->empty());
  EXPECT_FALSE(attributes.Tensor("value")->is_present());
}

TEST(AttributesTest, APresentAttributeHasItsValueAndItsNameOnce) {
  Attributes attributes;
  EXPECT_TRUE(attributes.Add("axis", int64_t{2}));
  EXPECT_FALSE(attributes.Add("axis", int64_t{3}));
  EXPECT_EQ(*attributes.Int("axis", -1), 2);
  EXPECT_EQ(attributes.size(), 1);
}

TEST(AttributesTest, AnotherTypeIsRefusedWithBothTypes) {
  Attributes attributes;
  attributes.Add("axis", 1.5f);
  EXPECT_EQ(attributes.Int("axis", 0).status().message(),
            "attribute 'axis' has type float; it should be of type int");
  EXPECT_EQ(attributes.Ints("axis").status().message(),
            "attribute 'axis' has type float; it should be of type ints");
  EXPECT_TRUE(attributes.Float("axis", 0).ok());
}

TEST(AttributesTest, WhatIsTakenIsGone) {
  Attributes attributes;
  attributes.Add("axis", int64_t{2});
  EXPECT_EQ(std::get<int64_t>(*attributes.Take("axis")), 2);
  EXPECT_FALSE(attributes.Take("axis").has_value());
  EXPECT_EQ(attributes.size(), 0);
}

TEST(AttributesTest, NamesAreSorted) {
  Attributes attributes;
  attributes.Add("strides", std::vector<int64_t>{1});
  attributes.Add("group", int64_t{1});
  EXPECT_THAT(attributes.Names(), testing::ElementsAre("group", "strides"));
}

}  // namespace
}  // namespace tensord
