#include "tools/conformance/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "clients/cpp/tensors.h"

namespace tensord::conformance {
namespace {

using ::testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLowest = std::numeric_limits<float>::lowest();

v1::ExecuteOutput Output(const v1::Tensor& tensor) {
  v1::ExecuteOutput output;
  output.set_name("y");
  *output.mutable_tensor() = tensor;
  return output;
}

v1::ExecuteOutput Absent() {
  v1::ExecuteOutput output;
  output.set_is_absent(true);
  return output;
}

v1::ExecuteOutput Sequence(const std::vector<v1::Tensor>& tensors) {
  v1::ExecuteOutput output;
  output.mutable_sequence()->set_dtype(v1::DTYPE_FLOAT32);
  for (const v1::Tensor& tensor : tensors) {
    *output.mutable_sequence()->add_tensors() = tensor;
  }
  return output;
}

v1::Tensor Floats(const std::vector<float>& values) {
  return MakeTensor<float>({static_cast<int64_t>(values.size())}, values);
}

v1::Tensor Halfs(const std::vector<uint16_t>& bits) {
  v1::Tensor tensor =
      MakeTensor<uint16_t>({static_cast<int64_t>(bits.size())}, bits);
  tensor.set_dtype(v1::DTYPE_FLOAT16);
  return tensor;
}

Comparison Compare(const v1::Tensor& expected, const v1::Tensor& got,
                   const ComparisonRule& rule = {},
                   const std::vector<v1::ExecuteInput>& inputs = {}) {
  return CompareOutputs({Output(expected)}, {Output(got)}, inputs, rule);
}

bool Pass(const std::vector<float>& expected, const std::vector<float>& got,
          const ComparisonRule& rule = {}) {
  return Compare(Floats(expected), Floats(got), rule).is_equal();
}

TEST(CompareTest, TheDefaultToleranceEndsWhereItSays) {
  EXPECT_TRUE(Pass({1000, -1000, 0}, {1000.99f, -999.01f, 0.99e-7f}));
  EXPECT_FALSE(Pass({1000}, {1001.01f}));
  EXPECT_FALSE(Pass({-1000}, {-998.9f}));
  EXPECT_FALSE(Pass({0}, {1.1e-7f}));
  EXPECT_FALSE(Pass({1}, {-1}));
}

TEST(CompareTest, ANaNIsRightWhereOneIsExpectedAndNowhereElse) {
  EXPECT_TRUE(Pass({NAN, 1}, {NAN, 1}));
  EXPECT_FALSE(Pass({NAN}, {1}));
  EXPECT_FALSE(Pass({1}, {NAN}));
  EXPECT_FALSE(Pass({NAN}, {kInfinity}));
}

TEST(CompareTest, InfinitiesMatchAndAllowNothing) {
  EXPECT_TRUE(Pass({kInfinity, -kInfinity}, {kInfinity, -kInfinity}));
  EXPECT_FALSE(Pass({kInfinity}, {-kInfinity}));
  EXPECT_FALSE(Pass({kInfinity}, {3e38f}));
  EXPECT_FALSE(Pass({3e38f}, {kInfinity}));
}

TEST(CompareTest, ZeroHasNoSign) { EXPECT_TRUE(Pass({0}, {-0.0f})); }

TEST(CompareTest, IntegersAreExactHoweverLarge) {
  EXPECT_FALSE(Compare(MakeTensor<int32_t>({1}, {1'000'000}),
                       MakeTensor<int32_t>({1}, {1'000'001}))
                   .is_equal());
  // These two are one double.
  EXPECT_FALSE(Compare(MakeTensor<int64_t>({1}, {9007199254740993}),
                       MakeTensor<int64_t>({1}, {9007199254740992}))
                   .is_equal());
  EXPECT_TRUE(Compare(MakeTensor<int64_t>({1}, {9007199254740993}),
                      MakeTensor<int64_t>({1}, {9007199254740993}))
                  .is_equal());
  EXPECT_FALSE(
      Compare(MakeTensor<bool>({1}, {true}), MakeTensor<bool>({1}, {false}))
          .is_equal());
}

TEST(CompareTest, FourBitElementsDifferOneByOne) {
  v1::Tensor expected = MakeTensor<uint8_t>({1}, {0x21});
  expected.set_dtype(v1::DTYPE_UINT4);
  expected.set_dims(0, 2);
  v1::Tensor got = expected;
  EXPECT_TRUE(Compare(expected, got).is_equal());
  got.set_data("\x31");
  EXPECT_THAT(Compare(expected, got).difference,
              HasSubstr("element [1] is 3, expected 2 (1 of 2 differ)"));
}

TEST(CompareTest, TypesAndShapesAreEqualOrThatIsTheDifference) {
  const Comparison dtype =
      Compare(MakeTensor<int32_t>({1}, {1}), MakeTensor<int64_t>({1}, {1}));
  EXPECT_EQ(dtype.difference, "output 0 'y' is int64[1], expected int32[1]");
  EXPECT_FALSE(dtype.is_of_values);
  const Comparison shape =
      Compare(MakeTensor<float>({2, 1}, {1, 2}), Floats({1, 2}));
  EXPECT_EQ(shape.difference,
            "output 0 'y' is float32[2], expected float32[2,1]");
  EXPECT_FALSE(
      Compare(MakeTensor<float>({0, 2}, {}), MakeTensor<float>({2, 0}, {}))
          .is_equal());
}

TEST(CompareTest, ADifferenceNamesPlaceAndNumbers) {
  const Comparison comparison =
      Compare(MakeTensor<float>({2, 2}, {1, 2, 3, 4}),
              MakeTensor<float>({2, 2}, {1, 2, 3.5f, 5}));
  EXPECT_EQ(comparison.difference,
            "output 0 'y': element [1,0] is 3.5, expected 3 (2 of 4 differ)");
  EXPECT_TRUE(comparison.is_of_values);
}

TEST(CompareTest, EveryOutputIsCompared) {
  const auto comparison =
      CompareOutputs({Output(Floats({1})), Output(Floats({2}))},
                     {Output(Floats({1})), Output(Floats({3}))}, {}, {});
  EXPECT_THAT(comparison.difference, HasSubstr("output 1 'y'"));
  EXPECT_EQ(CompareOutputs({Output(Floats({1}))}, {}, {}, {}).difference,
            "0 outputs came, expected 1");
}

TEST(CompareTest, KindsAndSequencesAreEqual) {
  const auto equal = [](const v1::ExecuteOutput& expected,
                        const v1::ExecuteOutput& got) {
    return CompareOutputs({expected}, {got}, {}, {}).is_equal();
  };
  EXPECT_TRUE(equal(Absent(), Absent()));
  EXPECT_FALSE(equal(Absent(), Output(Floats({1}))));
  EXPECT_FALSE(equal(Output(Floats({1})), Sequence({Floats({1})})));
  EXPECT_TRUE(equal(Sequence({Floats({1})}), Sequence({Floats({1})})));
  EXPECT_FALSE(equal(Sequence({Floats({1})}), Sequence({Floats({2})})));
  EXPECT_FALSE(equal(Sequence({Floats({1})}), Sequence({})));
  EXPECT_FALSE(equal(Output(Floats({1})), v1::ExecuteOutput()));
}

TEST(CompareTest, StringsAreEqualByteByByte) {
  v1::Tensor expected;
  expected.set_dtype(v1::DTYPE_STRING);
  expected.add_dims(1);
  expected.set_data(std::string("\2\0\0\0ab", 6));
  v1::Tensor got = expected;
  EXPECT_TRUE(Compare(expected, got).is_equal());
  got.set_data(std::string("\2\0\0\0aB", 6));
  EXPECT_THAT(Compare(expected, got).difference,
              HasSubstr("element [0] is \"aB\", expected \"ab\""));
}

TEST(CompareTest, RandomValuesStillHaveAType) {
  const ComparisonRule rule{.types_only = true};
  EXPECT_TRUE(Pass({1, 2}, {7, NAN}, rule));
  EXPECT_FALSE(Pass({1, 2}, {7}, rule));
}

TEST(CompareTest, WhatOnlyTheWiderTolerancePassesIsCounted) {
  const ComparisonRule rule{.wider = Tolerance{.rtol = 1e-2L, .atol = 1e-3L}};
  // 1, 1.0009765625, 1.0048828125, 1.0205078125
  const Comparison passed =
      Compare(Halfs({0x3c00, 0x3c00}), Halfs({0x3c01, 0x3c05}), rule);
  EXPECT_TRUE(passed.is_equal());
  EXPECT_EQ(passed.wider_count, 1);
  EXPECT_FALSE(Compare(Halfs({0x3c00}), Halfs({0x3c15}), rule).is_equal());
  EXPECT_FALSE(Compare(Halfs({0x3c00}), Halfs({0x3c05})).is_equal());
}

TEST(CompareTest, TheLowestNumberIsAnInfinityOnlyWhereTheRuleSaysSo) {
  const ComparisonRule rule{.lowest_is_infinity = true};
  EXPECT_TRUE(Pass({-kInfinity, kLowest}, {kLowest, -kInfinity}, rule));
  EXPECT_FALSE(Pass({-kInfinity}, {kLowest}));
  EXPECT_FALSE(Pass({kInfinity}, {-kLowest}, rule));
  EXPECT_FALSE(Pass({-kInfinity}, {-1e30f}, rule));
  EXPECT_FALSE(Pass({-kInfinity}, {NAN}, rule));
}

TEST(CompareTest, OutOfRangeIsUndefinedOnlyWhereTheInputIsOutOfRange) {
  const ComparisonRule rule{.out_of_range_is_undefined = true};
  v1::ExecuteInput input;
  *input.mutable_tensor() = Floats({9, 3, -100, NAN});
  v1::Tensor expected = MakeTensor<uint8_t>({2}, {0x31, 0x00});
  expected.set_dtype(v1::DTYPE_INT4);
  expected.set_dims(0, 4);
  v1::Tensor got = expected;
  // Elements 0, 2 and 3 differ, and their inputs are no 4-bit integers.
  got.set_data("\x37\x18");
  const Comparison passed = Compare(expected, got, rule, {input});
  EXPECT_TRUE(passed.is_equal()) << passed.difference;
  EXPECT_EQ(passed.undefined_count, 3);
  EXPECT_FALSE(Compare(expected, got, {}, {input}).is_equal());
  // Element 1 differs, and its input is one.
  got.set_data(std::string("\x21\x00", 2));
  EXPECT_FALSE(Compare(expected, got, rule, {input}).is_equal());
}

TEST(CompareTest, PicturesMayDifferByLevels) {
  const ComparisonRule rule{.integer_levels = 3};
  EXPECT_TRUE(Compare(MakeTensor<uint8_t>({2}, {7, 9}),
                      MakeTensor<uint8_t>({2}, {10, 6}), rule)
                  .is_equal());
  EXPECT_FALSE(Compare(MakeTensor<uint8_t>({1}, {7}),
                       MakeTensor<uint8_t>({1}, {11}), rule)
                   .is_equal());
}

TEST(CompareTest, DataOfTheWrongSizeAreADifference) {
  v1::Tensor got = Floats({1, 2});
  got.mutable_data()->pop_back();
  EXPECT_FALSE(Compare(Floats({1, 2}), got).is_equal());
}

}  // namespace
}  // namespace tensord::conformance
