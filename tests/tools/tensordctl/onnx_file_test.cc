#include "tools/tensordctl/onnx_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "onnx/onnx.pb.h"
#include "tests/tools/tensordctl/temp_folder.h"
#include "tools/tensordctl/errors.h"

namespace tensord::ctl {
namespace {

using ::testing::HasSubstr;

// A model with one initializer whose bytes are in the file `location`.
onnx::ModelProto ModelWith(const std::string& location,
                           const std::string& offset = "",
                           const std::string& length = "") {
  onnx::ModelProto model;
  onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add = [&](const char* key, const std::string& value) {
    if (value.empty()) return;
    onnx::StringStringEntryProto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  add("location", location);
  add("offset", offset);
  add("length", length);
  return model;
}

class OnnxFile : public ::testing::Test {
 protected:
  OnnxFile() { folder_.Add("m/weights.bin", "0123456789"); }

  absl::StatusOr<std::string> Read(const onnx::ModelProto& model) {
    return ReadOnnxFile(folder_.Add("m/model.onnx", model.SerializeAsString()));
  }

  std::string RawDataOf(const onnx::ModelProto& model) {
    const auto bytes = Read(model);
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    onnx::ModelProto inlined;
    EXPECT_TRUE(inlined.ParseFromString(*bytes));
    EXPECT_EQ(inlined.graph().initializer(0).external_data_size(), 0);
    return inlined.graph().initializer(0).raw_data();
  }

  std::string ErrorOf(const onnx::ModelProto& model) {
    const auto bytes = Read(model);
    EXPECT_TRUE(IsLocalError(bytes.status()));
    return std::string(bytes.status().message());
  }

  TempFolder folder_;
};

TEST_F(OnnxFile, IsLeftAloneWithoutExternalData) {
  EXPECT_EQ(*ReadOnnxFile(folder_.Add("x", "no model: location")),
            "no model: location");
  onnx::ModelProto model;
  model.set_doc_string("its location is unknown");
  EXPECT_EQ(*Read(model), model.SerializeAsString());
  // External data without a place: for the daemon to refuse.
  EXPECT_EQ(*Read(ModelWith("")), ModelWith("").SerializeAsString());
}

TEST_F(OnnxFile, GetsItsExternalDataPutIn) {
  EXPECT_EQ(RawDataOf(ModelWith("weights.bin")), "0123456789");
  EXPECT_EQ(RawDataOf(ModelWith("weights.bin", "4")), "456789");
  EXPECT_EQ(RawDataOf(ModelWith("weights.bin", "4", "2")), "45");
  EXPECT_EQ(RawDataOf(ModelWith("./weights.bin", "10", "0")), "");
}

TEST_F(OnnxFile, LooksIntoNestedGraphsAndAttributes) {
  const onnx::GraphProto inner = ModelWith("weights.bin").graph();
  onnx::ModelProto model;
  onnx::AttributeProto& branch =
      *model.mutable_graph()->add_node()->add_attribute();
  *branch.mutable_g() = inner;
  *branch.mutable_t() = inner.initializer(0);
  onnx::ModelProto inlined;
  ASSERT_TRUE(inlined.ParseFromString(*Read(model)));
  const auto& attribute = inlined.graph().node(0).attribute(0);
  EXPECT_EQ(attribute.g().initializer(0).raw_data(), "0123456789");
  EXPECT_EQ(attribute.t().raw_data(), "0123456789");
}

TEST_F(OnnxFile, DoesNotReadOutsideOfItsFolder) {
  folder_.Add("secret", "key");
  std::filesystem::create_symlink(folder_.PathOf("secret"),
                                  folder_.PathOf("m/link"));
  for (const std::string& location :
       {std::string("../secret"), folder_.PathOf("secret"),
        std::string("/etc/passwd"), std::string("link"),
        std::string("x/../../secret")}) {
    EXPECT_THAT(ErrorOf(ModelWith(location)),
                HasSubstr("is not below the model's folder"))
        << location;
  }
}

TEST_F(OnnxFile, RefusesRangesOutsideOfTheFile) {
  EXPECT_THAT(ErrorOf(ModelWith("weights.bin", "4", "7")),
              HasSubstr("7 bytes at 4 of weights.bin, which has 10"));
  EXPECT_THAT(ErrorOf(ModelWith("weights.bin", "11")), HasSubstr("at 11"));
  EXPECT_THAT(ErrorOf(ModelWith("weights.bin", "18446744073709551615", "2")),
              HasSubstr("2 bytes at 18446744073709551615"));
  EXPECT_THAT(ErrorOf(ModelWith("weights.bin", "-1")), HasSubstr("offset -1"));
  EXPECT_THAT(ErrorOf(ModelWith("weights.bin", "", "x")),
              HasSubstr("length x"));
  EXPECT_THAT(ErrorOf(ModelWith("missing.bin")), HasSubstr("No such file"));
}

}  // namespace
}  // namespace tensord::ctl
