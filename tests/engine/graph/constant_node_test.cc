#include "engine/graph/constant_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

absl::StatusOr<HostTensor> ValueOf(std::string name, Attribute value) {
  Attributes attributes;
  attributes.Add(std::move(name), std::move(value));
  return ConstantNodeValue(attributes);
}

TEST(ConstantNodeTest, EachFormGivesItsTensor) {
  const HostTensor tensor = HostTensor::Int64s({1, 2, 3});
  EXPECT_EQ(ValueOf("value", tensor)->bytes().data(), tensor.bytes().data());
  EXPECT_EQ(ValueOf("value_float", 1.5f)->shape(), Shape());
  EXPECT_EQ(ValueOf("value_float", 1.5f)->values<float>()[0], 1.5f);
  EXPECT_EQ(ValueOf("value_int", int64_t{7})->values<int64_t>()[0], 7);
  EXPECT_THAT(
      ValueOf("value_floats", std::vector<float>{1, 2})->values<float>(),
      ElementsAre(1, 2));
  EXPECT_EQ(ValueOf("value_ints", std::vector<int64_t>{})->shape(), Shape({0}));
}

TEST(ConstantNodeTest, StringsAndSparseTensorsAreRefusedByName) {
  for (const char* name : {"value_string", "value_strings", "sparse_value"}) {
    const absl::Status status = ValueOf(name, std::string("x")).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(status.message()), HasSubstr(name));
  }
}

TEST(ConstantNodeTest, NoneSeveralOthersAndWrongTypesAreInvalid) {
  EXPECT_EQ(ConstantNodeValue(Attributes()).status().message(),
            "0 attributes, where a Constant has exactly one value");
  Attributes two;
  two.Add("value_int", int64_t{1});
  two.Add("value_float", 1.0f);
  EXPECT_FALSE(ConstantNodeValue(two).ok());
  EXPECT_EQ(ValueOf("valve", int64_t{1}).status().message(),
            "unknown attribute 'valve'");
  EXPECT_EQ(ValueOf("value_int", 1.0f).status().message(),
            "attribute 'value_int' has type float; it should be of type int");
}

}  // namespace
}  // namespace tensord
