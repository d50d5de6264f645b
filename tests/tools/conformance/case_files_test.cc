#include "tools/conformance/case_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onnx/onnx_data.pb.h"
#include "tests/tools/conformance/case_maker.h"

namespace tensord::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kSet[] = "node/test_a/test_data_set_0/";

class CaseFilesTest : public ::testing::Test {
 protected:
  void Write(const onnx::ModelProto& model) {
    root.Add("node/test_a/model.onnx", model.SerializeAsString());
  }
  void Write(const std::string& name, const std::string& bytes) {
    root.Add(kSet + name, bytes);
  }
  static std::string Bytes(const std::vector<float>& values) {
    return ctl::WriteOnnxTensor(
        MakeTensor<float>({static_cast<int64_t>(values.size())}, values), "n");
  }
  absl::StatusOr<CaseFiles> Read() {
    const Case test_a{.name = "test_a", .folder = "node"};
    const auto store = CaseStore::Open(root.path(), {test_a});
    if (!store.ok()) return store.status();
    return ReadCaseFiles(*store, test_a);
  }

  ctl::TempFolder root;
};

TEST_F(CaseFilesTest, NamesAreTheModelsAndCountGoesByPosition) {
  AddCase(root, "node/test_a", {1, 2}, {3});
  const auto files = Read();
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(files->model, IdentityModel().SerializeAsString());
  ASSERT_THAT(files->sets, SizeIs(1));
  const DataSet& set = files->sets[0];
  EXPECT_EQ(set.name, "test_data_set_0");
  ASSERT_THAT(set.inputs, SizeIs(1));
  EXPECT_EQ(set.inputs[0].name(), "x");
  EXPECT_THAT(*TensorValues<float>(set.inputs[0].tensor()), ElementsAre(1, 2));
  ASSERT_THAT(set.outputs, SizeIs(1));
  EXPECT_EQ(set.outputs[0].name(), "y");
  EXPECT_THAT(*TensorValues<float>(set.outputs[0].tensor()), ElementsAre(3));
}

TEST_F(CaseFilesTest, AnInputThatIsAnInitializerHasNoFile) {
  onnx::ModelProto model = IdentityModel();
  onnx::GraphProto& graph = *model.mutable_graph();
  *graph.add_input() = TensorInfo("later", v1::DTYPE_FLOAT32);
  graph.mutable_input(0)->set_name("weight");
  graph.add_initializer()->set_name("weight");
  Write(model);
  Write("input_0.pb", Bytes({7}));
  Write("output_0.pb", Bytes({7}));
  const auto files = Read();
  ASSERT_TRUE(files.ok()) << files.status();
  ASSERT_THAT(files->sets[0].inputs, SizeIs(1));
  EXPECT_EQ(files->sets[0].inputs[0].name(), "later");
}

TEST_F(CaseFilesTest, EveryDataSetIsRead) {
  AddCase(root, "node/test_a", {1}, {1});
  root.Add("node/test_a/test_data_set_1/input_0.pb", Bytes({2}));
  root.Add("node/test_a/test_data_set_1/output_0.pb", Bytes({2}));
  EXPECT_THAT(Read()->sets, SizeIs(2));
}

TEST_F(CaseFilesTest, SequencesAndOptionalValuesGoByTheGraphsType) {
  onnx::ModelProto model = IdentityModel();
  onnx::TypeProto tensor = model.graph().input(0).type();
  onnx::TypeProto sequence;
  *sequence.mutable_sequence_type()->mutable_elem_type() = tensor;
  onnx::TypeProto optional;
  *optional.mutable_optional_type()->mutable_elem_type() = sequence;
  *model.mutable_graph()->mutable_input(0)->mutable_type() = sequence;
  *model.mutable_graph()->mutable_output(0)->mutable_type() = optional;
  Write(model);
  onnx::SequenceProto elements;
  elements.set_elem_type(onnx::SequenceProto::TENSOR);
  elements.add_tensor_values()->ParseFromString(Bytes({1}));
  elements.add_tensor_values()->ParseFromString(Bytes({2, 3}));
  Write("input_0.pb", elements.SerializeAsString());
  onnx::OptionalProto nothing;
  Write("output_0.pb", nothing.SerializeAsString());
  auto files = Read();
  ASSERT_TRUE(files.ok()) << files.status();
  const v1::TensorSequence& read = files->sets[0].inputs[0].sequence();
  EXPECT_EQ(read.dtype(), v1::DTYPE_FLOAT32);
  ASSERT_EQ(read.tensors_size(), 2);
  EXPECT_THAT(*TensorValues<float>(read.tensors(1)), ElementsAre(2, 3));
  EXPECT_TRUE(files->sets[0].outputs[0].is_absent());

  onnx::OptionalProto something;
  something.set_elem_type(onnx::OptionalProto::SEQUENCE);
  *something.mutable_sequence_value() = elements;
  Write("output_0.pb", something.SerializeAsString());
  files = Read();
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(files->sets[0].outputs[0].sequence().tensors_size(), 2);
}

TEST_F(CaseFilesTest, WhatTheApiDoesNotCarryIsUnimplemented) {
  onnx::ModelProto model = IdentityModel();
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_map_type();
  Write(model);
  Write("input_0.pb", Bytes({1}));
  Write("output_0.pb", "");
  EXPECT_TRUE(absl::IsUnimplemented(Read().status())) << Read().status();
}

TEST_F(CaseFilesTest, WhatIsMissingOrTooMuchIsNamed) {
  EXPECT_THAT(Read().status().message(), HasSubstr("neither node/ nor"));
  root.Add("node/test_b/model.onnx", "");
  EXPECT_THAT(Read().status().message(), HasSubstr("model.onnx"));
  Write(IdentityModel());
  EXPECT_THAT(Read().status().message(),
              HasSubstr("test_data_set_0/input_0.pb"));
  Write("input_0.pb", Bytes({1}));
  EXPECT_THAT(Read().status().message(), HasSubstr("output_0.pb"));
  Write("output_0.pb", "\xff");
  EXPECT_THAT(Read().status().message(), HasSubstr("output_0.pb"));
  Write("output_0.pb", Bytes({1}));
  EXPECT_TRUE(Read().ok());
  Write("output_1.pb", Bytes({1}));
  EXPECT_THAT(Read().status().message(), HasSubstr("the graph has 1"));
}

}  // namespace
}  // namespace tensord::conformance
