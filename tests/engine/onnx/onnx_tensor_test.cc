#include "engine/onnx/onnx_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "onnx/onnx.pb.h"

namespace tensord {
namespace {

using onnx::TensorProto;
using testing::ElementsAre;
using testing::HasSubstr;

TensorProto Proto(int data_type, const std::vector<int64_t>& dims) {
  TensorProto proto;
  proto.set_data_type(data_type);
  for (int64_t dim : dims) proto.add_dims(dim);
  return proto;
}

std::string MessageOf(TensorProto proto) {
  const absl::StatusOr<HostTensor> tensor = ReadOnnxTensor(proto);
  EXPECT_FALSE(tensor.ok());
  return std::string(tensor.status().message());
}

TEST(OnnxTensorTest, RawDataIsTakenAsItIs) {
  TensorProto proto = Proto(TensorProto::INT16, {3});
  proto.set_raw_data(std::string("\x01\x00\xff\xff\x02\x00", 6));
  const absl::StatusOr<HostTensor> tensor = ReadOnnxTensor(proto);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_THAT(tensor->values<int16_t>(), ElementsAre(1, -1, 2));
}

TEST(OnnxTensorTest, TypedFieldsGiveTheSameElements) {
  TensorProto floats = Proto(TensorProto::FLOAT, {2});
  floats.add_float_data(1.5f);
  floats.add_float_data(-2);
  EXPECT_THAT(ReadOnnxTensor(floats)->values<float>(), ElementsAre(1.5f, -2));

  TensorProto longs = Proto(TensorProto::INT64, {});
  longs.add_int64_data(-7);
  EXPECT_EQ(ReadOnnxTensor(longs)->shape(), Shape());
  EXPECT_EQ(ReadOnnxTensor(longs)->values<int64_t>()[0], -7);

  TensorProto doubles = Proto(TensorProto::DOUBLE, {1});
  doubles.add_double_data(0.25);
  EXPECT_THAT(ReadOnnxTensor(doubles)->values<double>(), ElementsAre(0.25));

  TensorProto unsigned_ints = Proto(TensorProto::UINT32, {1});
  unsigned_ints.add_uint64_data(0xffffffffu);
  EXPECT_THAT(ReadOnnxTensor(unsigned_ints)->values<uint32_t>(),
              ElementsAre(0xffffffffu));
}

TEST(OnnxTensorTest, SmallElementsComeOneToAnInteger) {
  TensorProto bytes = Proto(TensorProto::INT8, {2});
  bytes.add_int32_data(-128);
  bytes.add_int32_data(127);
  EXPECT_THAT(ReadOnnxTensor(bytes)->values<int8_t>(), ElementsAre(-128, 127));

  TensorProto halves = Proto(TensorProto::FLOAT16, {1});
  halves.add_int32_data(0x3c00);
  EXPECT_THAT(ReadOnnxTensor(halves)->values<uint16_t>(), ElementsAre(0x3c00));

  TensorProto bools = Proto(TensorProto::BOOL, {2});
  bools.add_int32_data(1);
  bools.add_int32_data(0);
  EXPECT_THAT(ReadOnnxTensor(bools)->values<bool>(), ElementsAre(true, false));
}

TEST(OnnxTensorTest, FourBitElementsArePackedTwoToAnInteger) {
  TensorProto nibbles = Proto(TensorProto::UINT4, {3});
  nibbles.add_int32_data(0x21);
  nibbles.add_int32_data(0x03);
  EXPECT_THAT(ReadOnnxTensor(nibbles)->bytes(),
              ElementsAre(std::byte{0x21}, std::byte{0x03}));
  nibbles.add_int32_data(0);
  EXPECT_THAT(MessageOf(nibbles),
              HasSubstr("3 elements of int32_data for uint4 [3], which takes "
                        "2"));
}

TEST(OnnxTensorTest, OddCountsOfPackedElementsEndInAPaddedByte) {
  struct Packed {
    int data_type;
    int64_t count;
    size_t bytes;
  };
  for (const Packed& packed :
       {Packed{TensorProto::INT4, 3, 2}, Packed{TensorProto::UINT4, 1, 1},
        Packed{TensorProto::FLOAT4E2M1, 5, 3}, Packed{TensorProto::INT2, 5, 2},
        Packed{TensorProto::UINT2, 7, 2}}) {
    for (size_t bytes = 0; bytes <= packed.bytes + 1; ++bytes) {
      TensorProto raw = Proto(packed.data_type, {packed.count});
      raw.set_raw_data(std::string(bytes, '\x1b'));
      TensorProto typed = Proto(packed.data_type, {packed.count});
      for (size_t i = 0; i < bytes; ++i) typed.add_int32_data(0x1b);
      const bool fits = bytes == packed.bytes;
      const absl::StatusOr<HostTensor> from_raw = ReadOnnxTensor(raw);
      const absl::StatusOr<HostTensor> from_typed = ReadOnnxTensor(typed);
      EXPECT_EQ(from_raw.ok(), fits) << packed.data_type << " " << bytes;
      EXPECT_EQ(from_typed.ok(), fits) << packed.data_type << " " << bytes;
      if (from_raw.ok() && from_typed.ok()) {
        EXPECT_EQ(from_raw->bytes(), from_typed->bytes());
      }
    }
  }
}

TEST(OnnxTensorTest, ComplexNumbersAreTwoValuesEach) {
  TensorProto complex = Proto(TensorProto::COMPLEX64, {1});
  complex.add_float_data(1);
  complex.add_float_data(-2);
  const absl::StatusOr<HostTensor> tensor = ReadOnnxTensor(complex);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->dtype(), DType::kComplex64);
  EXPECT_EQ(tensor->size_bytes(), 8u);
  complex.add_float_data(3);
  EXPECT_THAT(MessageOf(complex),
              HasSubstr("3 elements of float_data for complex64 [1], which "
                        "takes 2"));
}

TEST(OnnxTensorTest, EmptyTensorsNeedNoData) {
  TensorProto empty = Proto(TensorProto::FLOAT, {2, 0});
  EXPECT_EQ(ReadOnnxTensor(empty)->shape(), Shape({2, 0}));
}

TEST(OnnxTensorTest, DataShorterOrLongerThanDimsIsRefusedWithTheNumbers) {
  TensorProto raw = Proto(TensorProto::FLOAT, {2, 3});
  raw.set_raw_data(std::string(20, '\0'));
  EXPECT_EQ(MessageOf(raw), "20 bytes for float32 [2, 3], which takes 24");
  raw.set_raw_data(std::string(28, '\0'));
  EXPECT_EQ(MessageOf(raw), "28 bytes for float32 [2, 3], which takes 24");
  TensorProto typed = Proto(TensorProto::FLOAT, {2});
  typed.add_float_data(1);
  EXPECT_EQ(MessageOf(typed),
            "1 elements of float_data for float32 [2], which takes 2");
  typed.add_float_data(1);
  typed.set_raw_data(std::string(8, '\0'));
  EXPECT_EQ(MessageOf(typed), "both raw_data (8 bytes) and 2 typed elements");
}

TEST(OnnxTensorTest, ElementsThatTheDTypeCannotHoldAreRefused) {
  TensorProto bytes = Proto(TensorProto::UINT8, {1});
  bytes.add_int32_data(256);
  EXPECT_EQ(MessageOf(bytes),
            "element 0 of int32_data is 256, out of range for uint8");
  TensorProto bools = Proto(TensorProto::BOOL, {1});
  bools.add_int32_data(2);
  EXPECT_EQ(MessageOf(bools),
            "element 0 of int32_data is 2, out of range for bool");
  bools = Proto(TensorProto::BOOL, {2});
  bools.set_raw_data(std::string("\x01\x05", 2));
  EXPECT_EQ(MessageOf(bools), "element 1 of bool [2] is 5, not 0 or 1");
  TensorProto ints = Proto(TensorProto::UINT32, {1});
  ints.add_uint64_data(uint64_t{1} << 32);
  EXPECT_THAT(MessageOf(ints), HasSubstr("is 4294967296, out of range"));
}

TEST(OnnxTensorTest, DimsOutOfRangeAreRefusedBeforeAnythingIsAllocated) {
  EXPECT_EQ(MessageOf(Proto(TensorProto::FLOAT, {2, -1})),
            "dimension 1 is -1, below 0");
  const int64_t huge = int64_t{1} << 62;
  EXPECT_THAT(MessageOf(Proto(TensorProto::FLOAT, {huge, huge})),
              HasSubstr("has more than"));
  EXPECT_THAT(MessageOf(Proto(TensorProto::FLOAT, {huge, 0})),
              HasSubstr("has more than"));
  EXPECT_THAT(MessageOf(Proto(TensorProto::FLOAT, {int64_t{1} << 40})),
              HasSubstr("0 elements of float_data"));
}

TEST(OnnxTensorTest, WhatIsNotSupportedIsRefusedByName) {
  EXPECT_EQ(MessageOf(Proto(0, {1})), "data_type 0 is no dtype");
  EXPECT_EQ(MessageOf(Proto(99, {1})), "data_type 99 is no dtype");
  EXPECT_EQ(MessageOf(Proto(TensorProto::STRING, {1})),
            "tensors of strings are not supported");
  TensorProto external = Proto(TensorProto::FLOAT, {1});
  external.set_data_location(TensorProto::EXTERNAL);
  EXPECT_THAT(MessageOf(external), HasSubstr("its data is external"));
  TensorProto segment = Proto(TensorProto::FLOAT, {1});
  segment.mutable_segment()->set_begin(0);
  EXPECT_THAT(MessageOf(segment), HasSubstr("segments"));
}

}  // namespace
}  // namespace tensord
