#include "tools/tensordctl/json_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "clients/cpp/tensors.h"

namespace tensord::ctl {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string ErrorOf(absl::string_view text, v1::DType dtype) {
  const auto tensor = ReadJsonTensor(text, dtype);
  EXPECT_FALSE(tensor.ok()) << text;
  return std::string(tensor.status().message());
}

TEST(JsonTensor, HasNestedLists) {
  const auto tensor =
      ReadJsonTensor("[[1, 2.5], [-3, 4e2], [0, 1]]", v1::DTYPE_FLOAT32);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_THAT(tensor->dims(), ElementsAre(3, 2));
  EXPECT_THAT(*TensorValues<float>(*tensor),
              ElementsAre(1.f, 2.5f, -3.f, 400.f, 0.f, 1.f));
}

TEST(JsonTensor, HasScalarsAndEmptyLists) {
  EXPECT_EQ(ReadJsonTensor("7", v1::DTYPE_INT64)->dims_size(), 0);
  EXPECT_THAT(ReadJsonTensor("[]", v1::DTYPE_INT64)->dims(), ElementsAre(0));
  EXPECT_THAT(ReadJsonTensor("[[], []]", v1::DTYPE_INT64)->dims(),
              ElementsAre(2, 0));
}

TEST(JsonTensor, KeepsEveryBitOfIntegers) {
  const auto tensor = ReadJsonTensor(
      "[9223372036854775807, -9223372036854775808]", v1::DTYPE_INT64);
  EXPECT_THAT(*TensorValues<int64_t>(*tensor),
              ElementsAre(std::numeric_limits<int64_t>::max(),
                          std::numeric_limits<int64_t>::min()));
  EXPECT_THAT(*TensorValues<uint64_t>(
                  *ReadJsonTensor("[18446744073709551615]", v1::DTYPE_UINT64)),
              ElementsAre(std::numeric_limits<uint64_t>::max()));
}

TEST(JsonTensor, HasBooleansAndNumbersThatAreNone) {
  EXPECT_EQ(ReadJsonTensor("[true, false, 1]", v1::DTYPE_BOOL)->data(),
            std::string("\1\0\1", 3));
  const auto values = *TensorValues<float>(
      *ReadJsonTensor("[\"nan\", \"inf\", \"-inf\"]", v1::DTYPE_FLOAT32));
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], std::numeric_limits<float>::infinity());
  EXPECT_EQ(values[2], -std::numeric_limits<float>::infinity());
}

TEST(JsonTensor, RoundsToHalfPrecision) {
  EXPECT_EQ(ReadJsonTensor("[1, -2]", v1::DTYPE_FLOAT16)->data(),
            std::string("\x00\x3c\x00\xc0", 4));
  EXPECT_EQ(ReadJsonTensor("[1]", v1::DTYPE_BFLOAT16)->data(),
            std::string("\x80\x3f", 2));
}

TEST(JsonTensor, RefusesRaggedListsByPlace) {
  EXPECT_THAT(ErrorOf("[[1, 2], [3]]", v1::DTYPE_FLOAT32),
              HasSubstr("at [1]: a list of 2 was expected, and one of 1"));
  EXPECT_THAT(ErrorOf("[[1, 2], 3]", v1::DTYPE_FLOAT32),
              HasSubstr("at [1]: a list of 2 was expected, and number"));
  EXPECT_THAT(ErrorOf("[1, [2]]", v1::DTYPE_FLOAT32),
              HasSubstr("at [1]: a list is no float32"));
}

TEST(JsonTensor, RefusesElementsOutOfRange) {
  EXPECT_THAT(ErrorOf("[0, 256]", v1::DTYPE_UINT8),
              HasSubstr("at [1]: 256 is no uint8"));
  EXPECT_THAT(ErrorOf("[-1]", v1::DTYPE_UINT64), HasSubstr("-1 is no uint64"));
  EXPECT_THAT(ErrorOf("[1.5]", v1::DTYPE_INT64), HasSubstr("1.5 is no int64"));
  EXPECT_THAT(ErrorOf("[1e300]", v1::DTYPE_INT64), HasSubstr("is no int64"));
  EXPECT_THAT(ErrorOf("[2]", v1::DTYPE_BOOL), HasSubstr("2 is no bool"));
  EXPECT_THAT(ErrorOf("[\"1\"]", v1::DTYPE_FLOAT32),
              HasSubstr("\"1\" is no float32"));
  EXPECT_THAT(ErrorOf("[null]", v1::DTYPE_FLOAT32),
              HasSubstr("null is no float32"));
  EXPECT_THAT(ErrorOf("{}", v1::DTYPE_FLOAT32),
              HasSubstr("an object is no float32"));
}

TEST(JsonTensor, TakesIntegersThatOtherProgramsWriteWithAPoint) {
  EXPECT_THAT(*TensorValues<int64_t>(*ReadJsonTensor("[3.0]", v1::DTYPE_INT64)),
              ElementsAre(3));
}

TEST(JsonTensor, RefusesTextThatIsNoJson) {
  for (const char* text : {"", "[", "[1,", "[1 2]", "nan", "\xff\xfe"}) {
    EXPECT_THAT(ErrorOf(text, v1::DTYPE_FLOAT32), HasSubstr("parse error"));
  }
}

TEST(JsonTensor, SurvivesDeepNesting) {
  const std::string text(100'000, '[');
  EXPECT_THAT(ErrorOf(text + std::string(text.size(), ']'), v1::DTYPE_FLOAT32),
              HasSubstr("more than 64 lists"));
  // Deep in the second element, where the first has told the extents.
  EXPECT_THAT(ErrorOf("[1," + text + std::string(text.size(), ']') + "]",
                      v1::DTYPE_FLOAT32),
              HasSubstr("at [1]"));
}

TEST(JsonTensor, RefusesDTypesWithoutNumbers) {
  EXPECT_THAT(ErrorOf("[1]", v1::DTYPE_STRING), HasSubstr(".pb"));
}

class JsonRoundTrip : public ::testing::TestWithParam<v1::DType> {};

TEST_P(JsonRoundTrip, GivesTheSameText) {
  for (const char* text : {"[[0,1],[1,0]]", "1", "[]"}) {
    auto tensor = ReadJsonTensor(text, GetParam());
    ASSERT_TRUE(tensor.ok()) << tensor.status();
    const auto again = ReadJsonTensor(JsonOfTensor(*tensor).dump(), GetParam());
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->SerializeAsString(), tensor->SerializeAsString());
  }
}
INSTANTIATE_TEST_SUITE_P(DTypes, JsonRoundTrip,
                         ::testing::Values(v1::DTYPE_FLOAT32, v1::DTYPE_FLOAT64,
                                           v1::DTYPE_FLOAT16,
                                           v1::DTYPE_BFLOAT16, v1::DTYPE_INT8,
                                           v1::DTYPE_INT16, v1::DTYPE_INT32,
                                           v1::DTYPE_INT64, v1::DTYPE_UINT8,
                                           v1::DTYPE_UINT16, v1::DTYPE_UINT32,
                                           v1::DTYPE_UINT64, v1::DTYPE_BOOL));

TEST(JsonTensor, ShowsFloatsThatReadBackAsTheSame) {
  const float values[] = {0.1f,
                          1e-30f,
                          16777217.f,
                          3.14159274f,
                          -0.f,
                          std::numeric_limits<float>::max(),
                          std::numeric_limits<float>::denorm_min()};
  const auto tensor = MakeTensor<float>({7}, absl::MakeConstSpan(values));
  const std::string text = JsonOfTensor(tensor).dump();
  EXPECT_EQ(ReadJsonTensor(text, v1::DTYPE_FLOAT32)->data(), tensor.data())
      << text;
}

}  // namespace
}  // namespace tensord::ctl
