#include "tools/tensordctl/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "clients/cpp/tensors.h"

namespace tensord::ctl {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file with this header and data; version 1 has a header length of 2 bytes,
// the later ones of 4.
std::string Npy(const std::string& header, const std::string& data,
                int version = 1) {
  std::string bytes = absl::StrCat(
      absl::string_view("\x93NUMPY", 6),
      absl::string_view(std::string{static_cast<char>(version), '\0'}));
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    bytes.push_back(static_cast<char>((header.size() >> (8 * i)) & 0xff));
  }
  return bytes + header + data;
}

std::string Header(const std::string& descr, const std::string& shape,
                   const std::string& fortran = "False") {
  return absl::StrCat("{'descr': '", descr, "', 'fortran_order': ", fortran,
                      ", 'shape': ", shape, ", }\n");
}

std::string Bytes(std::initializer_list<float> values) {
  return std::string(reinterpret_cast<const char*>(values.begin()),
                     values.size() * sizeof(float));
}

std::string ErrorOf(const std::string& bytes) {
  const auto tensor = ReadNpy(bytes);
  EXPECT_EQ(tensor.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(tensor.status().message());
}

class NpyVersion : public ::testing::TestWithParam<int> {};

TEST_P(NpyVersion, IsRead) {
  const auto tensor =
      ReadNpy(Npy(Header("<f4", "(2, 1)"), Bytes({1.5f, -2.f}), GetParam()));
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_THAT(tensor->dims(), ElementsAre(2, 1));
  EXPECT_THAT(*TensorValues<float>(*tensor), ElementsAre(1.5f, -2.f));
}
INSTANTIATE_TEST_SUITE_P(Versions, NpyVersion, ::testing::Values(1, 2, 3));

TEST(Npy, HasScalarsVectorsAndEmptyArrays) {
  EXPECT_EQ(ReadNpy(Npy(Header("<f4", "()"), Bytes({3.f})))->dims_size(), 0);
  EXPECT_THAT(ReadNpy(Npy(Header("<f4", "(1,)"), Bytes({3.f})))->dims(),
              ElementsAre(1));
  EXPECT_THAT(ReadNpy(Npy(Header("<f4", "(0, 7)"), ""))->dims(),
              ElementsAre(0, 7));
}

struct DTypeCase {
  const char* descr;
  v1::DType dtype;
  int bytes;
};
class NpyDType : public ::testing::TestWithParam<DTypeCase> {};

TEST_P(NpyDType, IsReadAndWrittenAlike) {
  const std::string data(static_cast<size_t>(GetParam().bytes) * 3, '\1');
  const std::string file = Npy(Header(GetParam().descr, "(3,)"), data);
  const auto tensor = ReadNpy(file);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->dtype(), GetParam().dtype);
  EXPECT_EQ(tensor->data(), data);
  const auto again = ReadNpy(*WriteNpy(*tensor));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->SerializeAsString(), tensor->SerializeAsString());
}
INSTANTIATE_TEST_SUITE_P(
    DTypes, NpyDType,
    ::testing::Values(DTypeCase{"<f2", v1::DTYPE_FLOAT16, 2},
                      DTypeCase{"<f4", v1::DTYPE_FLOAT32, 4},
                      DTypeCase{"=f4", v1::DTYPE_FLOAT32, 4},
                      DTypeCase{"<f8", v1::DTYPE_FLOAT64, 8},
                      DTypeCase{"|i1", v1::DTYPE_INT8, 1},
                      DTypeCase{"<i2", v1::DTYPE_INT16, 2},
                      DTypeCase{"<i4", v1::DTYPE_INT32, 4},
                      DTypeCase{"<i8", v1::DTYPE_INT64, 8},
                      DTypeCase{"|u1", v1::DTYPE_UINT8, 1},
                      DTypeCase{"<u2", v1::DTYPE_UINT16, 2},
                      DTypeCase{"<u4", v1::DTYPE_UINT32, 4},
                      DTypeCase{"<u8", v1::DTYPE_UINT64, 8},
                      DTypeCase{"|b1", v1::DTYPE_BOOL, 1}));

TEST(Npy, WritesWhereTheDataAreAlignedTo64Bytes) {
  for (int rank = 0; rank < 6; ++rank) {
    v1::Tensor tensor;
    tensor.set_dtype(v1::DTYPE_FLOAT32);
    for (int i = 0; i < rank; ++i) tensor.add_dims(1);
    tensor.set_data(Bytes({1.f}));
    const std::string file = *WriteNpy(tensor);
    EXPECT_EQ((file.size() - 4) % 64, 0u) << rank;
    EXPECT_EQ(file[file.size() - 5], '\n') << rank;
  }
}

TEST(Npy, DoesNotWriteBFloat16) {
  v1::Tensor tensor;
  tensor.set_dtype(v1::DTYPE_BFLOAT16);
  EXPECT_EQ(WriteNpy(tensor).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(Npy, RefusesFortranOrderByName) {
  EXPECT_THAT(ErrorOf(Npy(Header("<f4", "(1, 2)", "True"), Bytes({1, 2}))),
              HasSubstr("Fortran order"));
}

TEST(Npy, RefusesBigEndianAndOtherDTypesByName) {
  EXPECT_THAT(ErrorOf(Npy(Header(">f4", "(1,)"), Bytes({1}))),
              AllOf(HasSubstr(">f4"), HasSubstr("big-endian")));
  EXPECT_THAT(ErrorOf(Npy(Header("<c8", "(1,)"), Bytes({1, 2}))),
              HasSubstr("'<c8' is none of f2"));
  EXPECT_THAT(ErrorOf(Npy(Header("<U5", "(1,)"), std::string(20, 'x'))),
              HasSubstr("<U5"));
  EXPECT_THAT(ErrorOf(Npy("{'descr': [('a', '<f4')], 'fortran_order': False, "
                          "'shape': (1,)}",
                          Bytes({1}))),
              HasSubstr("a plain array"));
}

TEST(Npy, RefusesDataThatAreNotTheShapes) {
  EXPECT_THAT(ErrorOf(Npy(Header("<f4", "(3,)"), Bytes({1, 2}))),
              HasSubstr("float32[3] needs 12 bytes, and 8 are there"));
  EXPECT_THAT(ErrorOf(Npy(Header("<f4", "(1,)"), Bytes({1, 2}))),
              HasSubstr("float32[1] needs 4 bytes, and 8 are there"));
}

TEST(Npy, RefusesExtentsThatOverflow) {
  EXPECT_THAT(ErrorOf(Npy(Header("<f4", "(4294967296, 4294967296)"), "")),
              HasSubstr("[4294967296,4294967296]"));
  EXPECT_THAT(ErrorOf(Npy(Header("<f8", "(2305843009213693952,)"), "")),
              HasSubstr("2305843009213693952"));
  // 2^50 elements can be counted, but are not there; nothing is allocated.
  EXPECT_THAT(ErrorOf(Npy(Header("<f4", "(1125899906842624,)"), "")),
              HasSubstr("needs 4503599627370496 bytes, and 0 are there"));
  EXPECT_THAT(ErrorOf(Npy(Header("<f4", "(99999999999999999999,)"), "")),
              HasSubstr("a tuple of extents"));
  EXPECT_THAT(ErrorOf(Npy(Header("<f4", "(-1,)"), "")),
              HasSubstr("a tuple of extents"));
}

TEST(Npy, RefusesABoolThatIsNone) {
  EXPECT_THAT(ErrorOf(Npy(Header("|b1", "(2,)"), "\1\2")),
              HasSubstr("neither 0 nor 1"));
}

TEST(Npy, RefusesOtherFilesAndVersions) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("magic"));
  EXPECT_THAT(ErrorOf("PK\x03\x04"), HasSubstr("magic"));
  EXPECT_THAT(ErrorOf(Npy(Header("<f4", "()"), Bytes({1}), 4)),
              HasSubstr("version 4"));
}

TEST(Npy, RefusesEveryTruncation) {
  const std::string file = Npy(Header("<f4", "(2,)"), Bytes({1, 2}));
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(ReadNpy(absl::string_view(file).substr(0, size)).ok()) << size;
  }
  EXPECT_TRUE(ReadNpy(file).ok());
}

TEST(Npy, RefusesHeadersThatAreNoneByPlace) {
  const std::string headers[] = {
      "",
      "{",
      "{}",
      "{'descr'",
      "{'descr': '<f4'}",
      "{'descr': '<f4', 'fortran_order': Perhaps, 'shape': (1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
      "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '<f4', 'descr': '<f4', 'shape': (1,), 'shape': (1,)}",
  };
  for (const std::string& header : headers) {
    EXPECT_THAT(ErrorOf(Npy(header, Bytes({1}))),
                AllOf(HasSubstr("its header needs"), HasSubstr("at byte")))
        << header;
  }
}

TEST(Npy, SurvivesEveryChangedByteOfItsHeader) {
  const std::string file = Npy(Header("<f4", "(2,)"), Bytes({1, 2}));
  for (size_t i = 0; i < file.size() - 8; ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = file;
      changed[i] = static_cast<char>(value);
      const auto tensor = ReadNpy(changed);
      if (!tensor.ok()) continue;
      EXPECT_EQ(tensor->data().size(), 8u);
    }
  }
}

}  // namespace
}  // namespace tensord::ctl
