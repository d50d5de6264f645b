#include "engine/onnx/onnx_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "onnx/onnx.pb.h"
#include "tests/engine/onnx/model_text.h"

namespace tensord {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::ModelProto;
using onnx::NodeProto;
using onnx::TensorProto;
using testing::HasSubstr;

// y = Relu(x), with x of shape [batch, 3].
ModelProto ReluModel() {
  ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  GraphProto& graph = *model.mutable_graph();
  graph.set_name("relu");
  onnx::ValueInfoProto& input = *graph.add_input();
  input.set_name("x");
  auto& tensor = *input.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(TensorProto::FLOAT);
  tensor.mutable_shape()->add_dim()->set_dim_param("batch");
  tensor.mutable_shape()->add_dim()->set_dim_value(3);
  graph.add_output()->set_name("y");
  NodeProto& node = *graph.add_node();
  node.set_op_type("Relu");
  node.add_input("x");
  node.add_output("y");
  return model;
}

absl::StatusOr<GraphDef> Read(const ModelProto& model,
                              const GraphLimits& limits = GraphLimits()) {
  const std::string bytes = model.SerializeAsString();
  return ReadOnnx({bytes.data(), bytes.size()}, limits);
}

absl::Status ErrorOf(const ModelProto& model,
                     const GraphLimits& limits = GraphLimits()) {
  return Read(model, limits).status();
}

std::string TextOf(const absl::Status& status) {
  return std::string(status.message());
}

TEST(OnnxReaderTest, ReadsNamesTypesAndTheOperatorSet) {
  const absl::StatusOr<GraphDef> graph = Read(ReluModel());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->name, "relu");
  EXPECT_EQ(graph->opset, 17);
  ASSERT_EQ(graph->inputs.size(), 1u);
  EXPECT_EQ(graph->inputs[0].dtype, DType::kFloat32);
  EXPECT_EQ(std::get<std::string>((*graph->inputs[0].dims)[0]), "batch");
  EXPECT_EQ(std::get<int64_t>((*graph->inputs[0].dims)[1]), 3);
  EXPECT_FALSE(graph->outputs[0].dims.has_value());
  EXPECT_EQ(graph->nodes[0].op_type, "Relu");
}

TEST(OnnxReaderTest, ReadsEveryTypeOfAttributeThatThereIs) {
  ModelProto model = ReluModel();
  NodeProto& node = *model.mutable_graph()->mutable_node(0);
  const auto add = [&](const char* name, AttributeProto::AttributeType type) {
    AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return &attribute;
  };
  add("f", AttributeProto::FLOAT)->set_f(0.5f);
  add("i", AttributeProto::INT)->set_i(-3);
  add("zero", AttributeProto::INT);  // proto3 writers leave a 0 out
  add("s", AttributeProto::STRING)->set_s("same_upper");
  add("floats", AttributeProto::FLOATS)->add_floats(1);
  add("ints", AttributeProto::INTS)->add_ints(2);
  add("none", AttributeProto::INTS);
  add("strings", AttributeProto::STRINGS)->add_strings("a");
  TensorProto& tensor = *add("t", AttributeProto::TENSOR)->mutable_t();
  tensor.set_data_type(TensorProto::INT64);
  tensor.add_int64_data(5);
  add("g", AttributeProto::GRAPH)->mutable_g()->set_name("body");

  const absl::StatusOr<GraphDef> graph = Read(model);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const Attributes& attributes = graph->nodes[0].attributes;
  EXPECT_EQ(*attributes.Float("f", 0), 0.5f);
  EXPECT_EQ(*attributes.Int("i", 0), -3);
  EXPECT_EQ(*attributes.Int("zero", 9), 0);
  EXPECT_EQ(*attributes.String("s", ""), "same_upper");
  EXPECT_EQ(attributes.Floats("floats")->size(), 1u);
  EXPECT_EQ(attributes.Ints("ints")->size(), 1u);
  EXPECT_TRUE(attributes.Ints("none")->empty());
  EXPECT_EQ(attributes.Tensor("t")->values<int64_t>()[0], 5);
  EXPECT_EQ(
      std::get<std::shared_ptr<const GraphDef>>(*attributes.Find("g"))->name,
      "body");
}

TEST(OnnxReaderTest, ASecondNodeOfTheSameNameLosesIt) {
  ModelProto model = ReluModel();
  model.mutable_graph()->mutable_node(0)->set_name("n");
  NodeProto& second = *model.mutable_graph()->add_node();
  second.set_name("n");
  second.set_op_type("Relu");
  const absl::StatusOr<GraphDef> graph = Read(model);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes[0].name, "n");
  EXPECT_EQ(graph->nodes[1].name, "");
}

TEST(OnnxReaderTest, VersionsOutsideTheRangeAreRefusedWithTheRange) {
  ModelProto model = ReluModel();
  for (int version : {0, 2, 14}) {
    model.set_ir_version(version);
    EXPECT_EQ(ErrorOf(model).code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(TextOf(ErrorOf(model)),
                HasSubstr(absl::StrCat("IR version ", version,
                                       " is outside those supported, 3 to")));
  }
  model.clear_ir_version();
  EXPECT_EQ(TextOf(ErrorOf(model)), "model has no IR version");
  model = ReluModel();
  model.clear_opset_import();
  EXPECT_THAT(TextOf(ErrorOf(model)), HasSubstr("imports no version"));
  model.add_opset_import()->set_version(0);
  EXPECT_THAT(TextOf(ErrorOf(model)), HasSubstr("version 0, below 1"));
  model.clear_opset_import();
  model.add_opset_import()->set_version(9);
  model.add_opset_import()->set_version(10);
  EXPECT_THAT(TextOf(ErrorOf(model)), HasSubstr("versions 9 and 10"));
}

TEST(OnnxReaderTest, EveryVersionInTheRangesIsRead) {
  ModelProto model = ReluModel();
  for (int64_t version = 3; version <= 13; ++version) {
    model.set_ir_version(version);
    EXPECT_TRUE(Read(model).ok()) << version;
  }
  for (int64_t version = 1; version <= 27; ++version) {
    model.mutable_opset_import(0)->set_version(version);
    EXPECT_EQ(RefusalOf(model), "") << version;
  }
  model.mutable_opset_import(0)->set_version(28);
  EXPECT_THAT(RefusalOf(model),
              HasSubstr("operator set version 28 is outside those supported"));
}

TEST(OnnxReaderTest, AModelWithoutOnnxsOperatorsIsRefusedByTheirNames) {
  ModelProto model = ReluModel();
  model.mutable_opset_import(0)->set_domain("ai.onnx.ml");
  model.mutable_graph()->mutable_node(0)->set_domain("ai.onnx.ml");
  model.mutable_graph()->mutable_node(0)->set_op_type("Scaler");
  EXPECT_THAT(RefusalOf(model),
              HasSubstr("operator 'Scaler' of domain 'ai.onnx.ml'"));
}

TEST(OnnxReaderTest, OfTheTrainingDomainTheOneVersionIsTaken) {
  ModelProto model = ReluModel();
  onnx::OperatorSetIdProto& opset = *model.add_opset_import();
  opset.set_domain("ai.onnx.preview.training");
  opset.set_version(1);
  EXPECT_EQ(RefusalOf(model), "");
  opset.set_version(2);
  EXPECT_THAT(RefusalOf(model),
              HasSubstr("model imports version 2 of domain "
                        "'ai.onnx.preview.training', where only 1"));
}

TEST(OnnxReaderTest, SequencesAndOptionalsAreForBodies) {
  // A body's input, in every type that a loop may carry, and its output.
  const auto model = [](const std::string& type) {
    return absl::StrCat(
        R"pb(graph { input { name: "x" }
                     output { name: "x" }
                     node { op_type: "Loop" output: "y"
                            attribute { name: "body"
                                        g { input { name: "s" type {)pb",
        type, R"pb(}
                   } output { name: "t" type {)pb",
        type, "} } } } } }");
  };
  const std::string tensor = "tensor_type { elem_type: 1 }";
  const std::string sequence =
      absl::StrCat("sequence_type { elem_type {", tensor, "} }");
  for (const std::string& type :
       {tensor, sequence,
        absl::StrCat("optional_type { elem_type {", sequence, "} }"),
        std::string("optional_type { elem_type { } }")}) {
    const absl::StatusOr<GraphDef> def = ReadText(model(type));
    EXPECT_TRUE(def.ok()) << type << def.status();
  }
  EXPECT_THAT(RefusalOf(model("map_type { key_type: 7 }")),
              HasSubstr("input 's': is a map; only tensors are supported"));
  EXPECT_THAT(RefusalOf(model("sequence_type { elem_type { map_type { } } }")),
              HasSubstr("input 's': holds a map; only tensors"));
  EXPECT_THAT(RefusalOf(model("sequence_type { elem_type { tensor_type { "
                              "elem_type: 8 } } }")),
              HasSubstr("input 's': holds strings"));
  EXPECT_THAT(RefusalOf(model("tensor_type { elem_type: 8 }")),
              HasSubstr("input 's': holds strings"));
  EXPECT_THAT(RefusalOf(model("sparse_tensor_type { elem_type: 1 }")),
              HasSubstr("is a sparse tensor"));
}

TEST(OnnxReaderTest, TheTypeOfAnOptionalIsNoReasonToRefuse) {
  const absl::StatusOr<GraphDef> def = ReadText(R"pb(
    graph {
      output { name: "h" }
      node {
        op_type: "Optional"
        output: "o"
        attribute {
          name: "type"
          type: TYPE_PROTO
          tp { tensor_type { elem_type: 1 } }
        }
      }
      node { op_type: "OptionalHasElement" input: "o" output: "h" }
    })pb");
  ASSERT_TRUE(def.ok()) << def.status();
  EXPECT_EQ(def->nodes[0].attributes.size(), 0);
}

TEST(OnnxReaderTest, ConstantsByStringsAndSparseTensorsAreRefusedByName) {
  const auto constant =
      [](const std::string& attribute) {
        return RefusalOf(
            absl::StrCat(
                R"pb(graph { output { name: "y" }
                             node { op_type: "Constant" output: "y" name: "c"
                                    attribute {)pb",
                attribute, "} } }"));
      };
  EXPECT_THAT(constant(R"pb(name: "value_string" s: "a")pb"),
              HasSubstr("constants by value_string are not supported"));
  EXPECT_THAT(constant(R"pb(name: "value_strings" strings: "a")pb"),
              HasSubstr("constants by value_strings are not supported"));
  EXPECT_THAT(constant(R"pb(name: "sparse_value"
                            sparse_tensor { dims: 3 })pb"),
              HasSubstr("attribute 'sparse_value': has type SPARSE_TENSOR"));
  EXPECT_THAT(constant(R"pb(name: "value"
                            t { data_type: 8 string_data: "a" })pb"),
              HasSubstr("attribute 'value': tensors of strings"));
}

TEST(OnnxReaderTest, ADomainThatIsOnlyImportedIsNoReasonToRefuse) {
  ModelProto model = ReluModel();
  onnx::OperatorSetIdProto& other = *model.add_opset_import();
  other.set_domain("ai.onnx.ml");
  other.set_version(3);
  EXPECT_TRUE(Read(model).ok());
}

TEST(OnnxReaderTest, WhatIsNotSupportedIsRefusedByName) {
  ModelProto model = ReluModel();
  model.add_training_info();
  EXPECT_EQ(ErrorOf(model).code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(TextOf(ErrorOf(model)), HasSubstr("1 training_info"));

  model = ReluModel();
  model.mutable_graph()->add_sparse_initializer()->mutable_values()->set_name(
      "w");
  EXPECT_THAT(TextOf(ErrorOf(model)), HasSubstr("sparse initializer 'w'"));

  model = ReluModel();
  model.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_sequence_type();
  EXPECT_THAT(TextOf(ErrorOf(model)),
              HasSubstr("input 'x': is a sequence; only tensors are "
                        "supported as inputs and outputs of the whole graph"));

  model = ReluModel();
  AttributeProto& attribute =
      *model.mutable_graph()->mutable_node(0)->add_attribute();
  attribute.set_name("bodies");
  attribute.set_type(AttributeProto::GRAPHS);
  EXPECT_THAT(TextOf(ErrorOf(model)),
              HasSubstr("attribute 'bodies': has type GRAPHS"));
}

TEST(OnnxReaderTest, ExternalDataIsRefusedWithTheInitializersName) {
  ModelProto model = ReluModel();
  TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(TensorProto::FLOAT);
  tensor.add_external_data()->set_key("location");
  EXPECT_EQ(ErrorOf(model).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(TextOf(ErrorOf(model)),
              HasSubstr("initializer 'w': its data is external"));
}

TEST(OnnxReaderTest, AttributesThatContradictThemselvesAreRefused) {
  ModelProto model = ReluModel();
  NodeProto& node = *model.mutable_graph()->mutable_node(0);
  node.set_name("r");
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("axis");
  attribute.set_type(AttributeProto::INT);
  attribute.set_f(1);
  EXPECT_EQ(TextOf(ErrorOf(model)),
            "node 'r' (Relu): attribute 'axis': says that its type is INT and "
            "has a value of type FLOAT");
  attribute.clear_f();
  attribute.set_i(1);
  *node.add_attribute() = node.attribute(0);
  EXPECT_THAT(TextOf(ErrorOf(model)), HasSubstr("'axis' is given twice"));
  node.clear_attribute();
  node.add_attribute()->set_name("nothing");
  EXPECT_THAT(TextOf(ErrorOf(model)), HasSubstr("neither a type nor a value"));
  node.mutable_attribute(0)->set_ref_attr_name("alpha");
  EXPECT_THAT(TextOf(ErrorOf(model)), HasSubstr("attribute of a function"));
}

TEST(OnnxReaderTest, ADTypeThatDoesNotExistIsRefused) {
  ModelProto model = ReluModel();
  auto& type = *model.mutable_graph()->mutable_input(0)->mutable_type();
  type.mutable_tensor_type()->set_elem_type(77);
  EXPECT_EQ(TextOf(ErrorOf(model)), "input 'x': elem_type 77 is no dtype");
  type.mutable_tensor_type()->set_elem_type(-1);
  EXPECT_EQ(TextOf(ErrorOf(model)), "input 'x': elem_type -1 is no dtype");
}

TEST(OnnxReaderTest, CountsAreLimitedBeforeAnythingIsParsed) {
  GraphLimits limits;
  limits.max_nodes = 10;
  limits.max_operands = 20;
  limits.max_attributes = 3;
  limits.max_rank = 4;
  ModelProto model = ReluModel();
  for (int i = 0; i < 10; ++i) model.mutable_graph()->add_node();
  EXPECT_EQ(TextOf(ErrorOf(model, limits)),
            "graph has 11 nodes; the limit max_nodes is 10 (--max-nodes)");
  model = ReluModel();
  for (int i = 0; i < 20; ++i) {
    model.mutable_graph()->mutable_node(0)->add_input("x");
  }
  EXPECT_THAT(TextOf(ErrorOf(model, limits)), HasSubstr("21 operands"));
  model = ReluModel();
  for (int i = 0; i < 4; ++i) {
    model.mutable_graph()->mutable_node(0)->add_attribute();
  }
  EXPECT_THAT(TextOf(ErrorOf(model, limits)), HasSubstr("has 4 attributes"));
  model = ReluModel();
  for (int i = 0; i < 5; ++i) {
    model.mutable_graph()->add_initializer()->add_dims(1);
    model.mutable_graph()->mutable_initializer(0)->add_dims(1);
  }
  EXPECT_THAT(TextOf(ErrorOf(model, limits)), HasSubstr("has 5 dimensions"));
}

std::string NestedGraphs(int depth) {
  // Built from the inside out: protobuf itself would not write 3,000 levels.
  const auto wrap = [](int field, const std::string& body) {
    std::string length;
    size_t rest = body.size();
    do {
      length.push_back(
          static_cast<char>((rest & 0x7f) | (rest > 127 ? 128 : 0)));
      rest >>= 7;
    } while (rest > 0);
    return std::string(1, static_cast<char>(field << 3 | 2)) + length + body;
  };
  std::string graph;
  for (int i = 0; i < depth; ++i) graph = wrap(1, wrap(5, wrap(6, graph)));
  return std::string("\x08\x08") + wrap(7, graph);
}

TEST(OnnxReaderTest, NestingIsLimitedAndCostsNoCallStack) {
  for (int depth : {17, 3'000, 10'000}) {
    const std::string bytes = NestedGraphs(depth);
    const absl::Status status =
        ReadOnnx({bytes.data(), bytes.size()}, GraphLimits()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << depth;
    EXPECT_THAT(TextOf(status), HasSubstr("max_nesting_depth is 16"));
  }
  // 16 are within the limit: what is wrong is something else.
  const std::string bytes = NestedGraphs(16);
  EXPECT_THAT(
      TextOf(ReadOnnx({bytes.data(), bytes.size()}, GraphLimits()).status()),
      HasSubstr("imports no version"));
}

TEST(OnnxReaderTest, NestedTypesAreLimitedToo) {
  ModelProto model = ReluModel();
  onnx::TypeProto* type =
      model.mutable_graph()->mutable_input(0)->mutable_type();
  for (int i = 0; i < 45; ++i) {
    type = type->mutable_sequence_type()->mutable_elem_type();
  }
  EXPECT_EQ(ErrorOf(model).code(), absl::StatusCode::kResourceExhausted);
}

TEST(OnnxReaderTest, EveryTruncationIsAnErrorOrASmallerModel) {
  ModelProto model = ReluModel();
  TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(TensorProto::FLOAT);
  tensor.add_dims(4);
  tensor.set_raw_data(std::string(16, 'x'));
  const std::string bytes = model.SerializeAsString();
  int refused = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const absl::StatusOr<GraphDef> graph =
        ReadOnnx({bytes.data(), size}, GraphLimits());
    if (graph.ok()) continue;
    ++refused;
    EXPECT_FALSE(graph.status().message().empty());
  }
  // The one cut between the graph and the operator set before it is a model.
  EXPECT_GE(refused, static_cast<int>(bytes.size()) - 2);
  EXPECT_THAT(
      TextOf(
          ReadOnnx({bytes.data(), bytes.size() - 1}, GraphLimits()).status()),
      HasSubstr("ModelProto at byte"));
}

TEST(OnnxReaderTest, LengthsPastTheEndAreRefusedWithoutBeingBelieved) {
  const auto text_of = [](const std::string& bytes) {
    return TextOf(
        ReadOnnx({bytes.data(), bytes.size()}, GraphLimits()).status());
  };
  // A graph, then in it a name, that say to have 2^31 - 1 bytes, and 2^63.
  const std::string most = "\xff\xff\xff\xff\x07";
  EXPECT_THAT(text_of("\x08\x08\x3a" + most + "abc"),
              HasSubstr("field 7 has 2147483647 bytes; 3 are left"));
  EXPECT_THAT(text_of("\x08\x08\x3a\x09\x12" + most + "abc"),
              HasSubstr("GraphProto at byte 4 of 13: field 2 has 2147483647 "
                        "bytes; 3 are left"));
  EXPECT_THAT(text_of("\x08\x08\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
                      "abc"),
              HasSubstr("field 7 has 9223372036854775807 bytes"));
}

TEST(OnnxReaderTest, NamesThatCannotBePrintedAreRefusedEscaped) {
  const auto refusal = [](auto change) {
    ModelProto model = ReluModel();
    change(*model.mutable_graph());
    return RefusalOf(model);
  };
  EXPECT_THAT(refusal([](GraphProto& g) { g.set_name("a\x1b[2J"); }),
              HasSubstr("'a\\x1b[2J' has a control character at byte 1"));
  EXPECT_THAT(
      refusal([](GraphProto& g) { g.mutable_node(0)->set_name("a\xff"); }),
      HasSubstr("'a\\xff' is not UTF-8 at byte 1"));
  EXPECT_THAT(
      refusal([](GraphProto& g) { g.mutable_input(0)->set_name("\n"); }),
      HasSubstr("control character"));
  EXPECT_THAT(
      refusal([](GraphProto& g) { g.mutable_node(0)->set_domain("my\r"); }),
      HasSubstr("domain name 'my\\r' has a control character"));
  EXPECT_THAT(refusal([](GraphProto& g) {
                g.mutable_node(0)->set_op_type(std::string(1 << 20, 'x'));
              }),
              HasSubstr("has 1048576 bytes; the limit max_name_bytes is 512"));
  EXPECT_THAT(refusal([](GraphProto& g) {
                AttributeProto& attribute = *g.mutable_node(0)->add_attribute();
                attribute.set_name("\t");
                attribute.set_i(1);
              }),
              HasSubstr("control character"));
}

TEST(OnnxReaderTest, RandomBytesAreRefused) {
  std::mt19937 random(7);
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes(random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    EXPECT_FALSE(ReadOnnx({bytes.data(), bytes.size()}, GraphLimits()).ok());
  }
}

TEST(OnnxReaderTest, ChangedBytesOfAModelNeverEndTheProcess) {
  const std::string original = ReluModel().SerializeAsString();
  std::mt19937 random(11);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = original;
    for (int i = 0; i < 3; ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    ReadOnnx({bytes.data(), bytes.size()}, GraphLimits()).IgnoreError();
  }
}

std::string FileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

TEST(OnnxReaderTest, ReadsTheDigitsModel) {
  const char* source = std::getenv("TENSORD_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  const std::string bytes =
      FileBytes(absl::StrCat(source, "/models/digits/model.onnx"));
  ASSERT_FALSE(bytes.empty());
  const absl::StatusOr<GraphDef> graph =
      ReadOnnx({bytes.data(), bytes.size()}, GraphLimits());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_FALSE(graph->nodes.empty());
  EXPECT_FALSE(graph->initializers.empty());
}

// The real models are not part of the repository; where they are, they are
// read.
TEST(OnnxReaderTest, ReadsTheSharedModels) {
  const char* shared = std::getenv("TENSORD_SHARED_DIR");
  if (shared == nullptr) GTEST_SKIP() << "TENSORD_SHARED_DIR is not set";
  for (const char* name :
       {"ch_PP-OCRv4_det_infer", "ch_PP-OCRv4_rec_infer",
        "face_detection_front_128x128_barracuda", "fr_detect", "fr_expression",
        "fr_feature", "fr_pose", "hello_deepa", "silero_vad_v5"}) {
    const std::string bytes =
        FileBytes(absl::StrCat(shared, "/models/real/", name, "/model.onnx"));
    ASSERT_FALSE(bytes.empty()) << name;
    const absl::StatusOr<GraphDef> graph =
        ReadOnnx({bytes.data(), bytes.size()}, GraphLimits());
    EXPECT_TRUE(graph.ok()) << name << ": " << graph.status();
  }
}

}  // namespace
}  // namespace tensord
