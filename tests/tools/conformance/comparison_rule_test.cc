#include "tools/conformance/comparison_rule.h"

#include <gtest/gtest.h>

namespace tensord::conformance {
namespace {

ComparisonRule Parse(const char* text) {
  const auto rule = ParseComparisonRule(text);
  EXPECT_TRUE(rule.ok()) << rule.status();
  return rule.value_or(ComparisonRule());
}

TEST(ComparisonRuleTest, NothingIsTheDefault) {
  const ComparisonRule rule = Parse("");
  EXPECT_EQ(static_cast<double>(rule.tolerance.rtol), 1e-3);
  EXPECT_EQ(static_cast<double>(rule.tolerance.atol), 1e-7);
  EXPECT_FALSE(rule.wider || rule.types_only || rule.is_disputed ||
               rule.lowest_is_infinity || rule.out_of_range_is_undefined);
  EXPECT_EQ(rule.integer_levels, 0);
}

TEST(ComparisonRuleTest, NumbersTakeThePlaceOfTheDefaults) {
  const ComparisonRule dft =
      Parse("atol=1e-3 (sums of many large terms cancel to 0)");
  EXPECT_EQ(static_cast<double>(dft.tolerance.atol), 1e-3);
  EXPECT_EQ(static_cast<double>(dft.tolerance.rtol), 1e-3);
  const ComparisonRule densenet = Parse("rtol=2e-3");
  EXPECT_EQ(static_cast<double>(densenet.tolerance.rtol), 2e-3);
  EXPECT_EQ(static_cast<double>(densenet.tolerance.atol), 1e-7);
  EXPECT_FALSE(densenet.wider);
}

TEST(ComparisonRuleTest, SixteenBitsKeepTheDefaultAndGetAWiderOne) {
  const ComparisonRule half =
      Parse("fp16: rtol=1e-2 atol=1e-3 where accumulation order differs");
  EXPECT_EQ(static_cast<double>(half.tolerance.rtol), 1e-3);
  ASSERT_TRUE(half.wider);
  EXPECT_EQ(static_cast<double>(half.wider->rtol), 1e-2);
  EXPECT_EQ(static_cast<double>(half.wider->atol), 1e-3);
  const ComparisonRule brain =
      Parse("bf16: rtol=2e-2 atol=1e-3 where accumulation order differs");
  ASSERT_TRUE(brain.wider);
  EXPECT_EQ(static_cast<double>(brain.wider->rtol), 2e-2);
}

TEST(ComparisonRuleTest, RulesInWordsSetTheirFlagAlone) {
  EXPECT_TRUE(Parse("shape+dtype only (random values)").types_only);
  EXPECT_TRUE(Parse("disputed: other runtimes differ").is_disputed);
  EXPECT_TRUE(
      Parse("take -inf and lowest finite float as equal").lowest_is_infinity);
  EXPECT_TRUE(
      Parse("out-of-range values wrap here (undefined in the specification)")
          .out_of_range_is_undefined);
  EXPECT_EQ(Parse("image codec: lossy formats may differ by a few levels")
                .integer_levels,
            3);
  EXPECT_FALSE(Parse("disputed: other runtimes differ").types_only);
  EXPECT_FALSE(Parse("shape+dtype only (random values)").is_disputed);
}

TEST(ComparisonRuleTest, TextThatIsNotUnderstoodIsNoDefault) {
  for (const char* text :
       {"anything goes", "rtol=x", "rtol=", "rtol=2", "atol=-1", "rtol=nan",
        "fp16: as you like", "rtol 1e-3", "wraps", "out-of-range values"}) {
    EXPECT_FALSE(ParseComparisonRule(text).ok()) << text;
  }
}

}  // namespace
}  // namespace tensord::conformance
