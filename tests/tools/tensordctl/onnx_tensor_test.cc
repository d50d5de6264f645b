#include "tools/tensordctl/onnx_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "clients/cpp/tensors.h"
#include "onnx/onnx.pb.h"

namespace tensord::ctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

onnx::TensorProto Proto(v1::DType dtype, std::initializer_list<int64_t> dims) {
  onnx::TensorProto proto;
  proto.set_data_type(dtype);
  proto.mutable_dims()->Add(dims.begin(), dims.end());
  return proto;
}

absl::StatusOr<v1::Tensor> Read(const onnx::TensorProto& proto) {
  return ReadOnnxTensor(proto.SerializeAsString());
}

std::string ErrorOf(const onnx::TensorProto& proto) {
  const auto tensor = Read(proto);
  EXPECT_EQ(tensor.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(tensor.status().message());
}

TEST(OnnxTensor, HasRawData) {
  auto proto = Proto(v1::DTYPE_INT16, {2});
  proto.set_raw_data(std::string("\x01\x00\xff\xff", 4));
  EXPECT_THAT(*TensorValues<int16_t>(*Read(proto)), ElementsAre(1, -1));
}

TEST(OnnxTensor, HasFloatsInTheirField) {
  auto proto = Proto(v1::DTYPE_FLOAT32, {2, 1});
  proto.add_float_data(0.5f);
  proto.add_float_data(-1.f);
  EXPECT_THAT(*TensorValues<float>(*Read(proto)), ElementsAre(0.5f, -1.f));
  auto doubles = Proto(v1::DTYPE_FLOAT64, {});
  doubles.add_double_data(1e300);
  EXPECT_THAT(*TensorValues<double>(*Read(doubles)), ElementsAre(1e300));
}

TEST(OnnxTensor, HasIntegersInTheirFields) {
  auto int64 = Proto(v1::DTYPE_INT64, {1});
  int64.add_int64_data(std::numeric_limits<int64_t>::min());
  EXPECT_THAT(*TensorValues<int64_t>(*Read(int64)),
              ElementsAre(std::numeric_limits<int64_t>::min()));
  auto uint32 = Proto(v1::DTYPE_UINT32, {1});
  uint32.add_uint64_data(4'000'000'000u);
  EXPECT_THAT(*TensorValues<uint32_t>(*Read(uint32)),
              ElementsAre(4'000'000'000u));
  auto uint64 = Proto(v1::DTYPE_UINT64, {1});
  uint64.add_uint64_data(std::numeric_limits<uint64_t>::max());
  EXPECT_THAT(*TensorValues<uint64_t>(*Read(uint64)),
              ElementsAre(std::numeric_limits<uint64_t>::max()));
  auto int8 = Proto(v1::DTYPE_INT8, {2});
  int8.add_int32_data(-128);
  int8.add_int32_data(127);
  EXPECT_THAT(*TensorValues<int8_t>(*Read(int8)), ElementsAre(-128, 127));
  auto booleans = Proto(v1::DTYPE_BOOL, {2});
  booleans.add_int32_data(0);
  booleans.add_int32_data(5);
  EXPECT_EQ(Read(booleans)->data(), std::string("\0\1", 2));
  auto halves = Proto(v1::DTYPE_FLOAT16, {1});
  halves.add_int32_data(0xbc00);
  EXPECT_EQ(Read(halves)->data(), std::string("\x00\xbc", 2));
}

TEST(OnnxTensor, HasStringsWithTheirLengths) {
  auto proto = Proto(v1::DTYPE_STRING, {2});
  proto.add_string_data("");
  proto.add_string_data("abc");
  EXPECT_EQ(Read(proto)->data(), std::string("\0\0\0\0\3\0\0\0abc", 11));
}

TEST(OnnxTensor, IsWrittenAsItIsRead) {
  for (v1::DType dtype : {v1::DTYPE_FLOAT32, v1::DTYPE_BFLOAT16}) {
    auto proto = Proto(dtype, {1, 2});
    proto.set_raw_data(std::string(dtype == v1::DTYPE_FLOAT32 ? 8 : 4, 'x'));
    const auto tensor = *Read(proto);
    const auto again = ReadOnnxTensor(WriteOnnxTensor(tensor, "y"));
    EXPECT_EQ(again->SerializeAsString(), tensor.SerializeAsString());
  }
  auto strings = Proto(v1::DTYPE_STRING, {3});
  for (const char* text : {"a", "", "bc"}) strings.add_string_data(text);
  const auto tensor = *Read(strings);
  EXPECT_EQ(ReadOnnxTensor(WriteOnnxTensor(tensor, "y"))->SerializeAsString(),
            tensor.SerializeAsString());
}

TEST(OnnxTensor, RefusesANumberOfElementsThatIsNotTheShapes) {
  auto raw = Proto(v1::DTYPE_FLOAT32, {2});
  raw.set_raw_data("1234567");
  EXPECT_THAT(ErrorOf(raw),
              HasSubstr("float32[2] needs 8 bytes, and 7 are there"));
  auto typed = Proto(v1::DTYPE_FLOAT32, {2});
  typed.add_float_data(1);
  EXPECT_THAT(ErrorOf(typed),
              HasSubstr("float32[2] needs 8 bytes, and 4 are there"));
  auto strings = Proto(v1::DTYPE_STRING, {2});
  strings.add_string_data("a");
  EXPECT_THAT(ErrorOf(strings),
              HasSubstr("needs 2 entries in string_data, and 1 are there"));
}

TEST(OnnxTensor, RefusesExtentsThatOverflowOrAreNegative) {
  EXPECT_THAT(ErrorOf(Proto(v1::DTYPE_FLOAT32, {1ll << 40, 1ll << 40})),
              HasSubstr("[1099511627776,1099511627776]"));
  EXPECT_THAT(ErrorOf(Proto(v1::DTYPE_FLOAT32, {1ll << 62})),
              HasSubstr("2^60 bytes"));
  EXPECT_THAT(ErrorOf(Proto(v1::DTYPE_FLOAT32, {-1})), HasSubstr("negative"));
}

TEST(OnnxTensor, RefusesEntriesThatAreNoElements) {
  auto proto = Proto(v1::DTYPE_UINT8, {1});
  proto.add_int32_data(256);
  EXPECT_THAT(ErrorOf(proto), HasSubstr("256 in int32_data is no uint8"));
}

TEST(OnnxTensor, RefusesElementsThatAreElsewhere) {
  auto proto = Proto(v1::DTYPE_FLOAT32, {1});
  proto.set_data_location(onnx::TensorProto::EXTERNAL);
  EXPECT_THAT(ErrorOf(proto), HasSubstr("another file"));
}

TEST(OnnxTensor, RefusesDTypesThatAreNone) {
  EXPECT_THAT(ErrorOf(Proto(static_cast<v1::DType>(99), {1})),
              HasSubstr("data_type is 99"));
  EXPECT_THAT(ErrorOf(Proto(v1::DTYPE_UNSPECIFIED, {1})),
              HasSubstr("data_type is 0"));
}

TEST(OnnxTensor, RefusesOtherBytesAndEveryTruncation) {
  auto proto = Proto(v1::DTYPE_FLOAT32, {2});
  proto.set_raw_data("12345678");
  const std::string bytes = proto.SerializeAsString();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadOnnxTensor(bytes.substr(0, size)).ok()) << size;
  }
  EXPECT_THAT(ReadOnnxTensor("\x93NUMPY").status().message(),
              HasSubstr("6 bytes are no onnx.TensorProto"));
}

}  // namespace
}  // namespace tensord::ctl
