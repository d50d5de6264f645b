#include "server/graph_codec/graph_from_proto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "engine/graph/dim.h"
#include "tensord/v1/graph.pb.h"

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// y = Add(x, w), with x of shape [batch, 2].
v1::Graph AddGraph() {
  v1::Graph graph;
  graph.set_name("add");
  graph.set_opset_version(17);
  v1::ValueInfo& x = *graph.add_inputs();
  x.set_name("x");
  x.set_dtype(v1::DTYPE_FLOAT32);
  x.add_dims()->set_symbol("batch");
  x.add_dims()->set_size(2);
  v1::Initializer& w = *graph.add_initializers();
  w.set_name("w");
  w.mutable_tensor()->set_dtype(v1::DTYPE_FLOAT32);
  w.mutable_tensor()->add_dims(2);
  w.mutable_tensor()->set_data(std::string(8, '\0'));
  v1::Node& node = *graph.add_nodes();
  node.set_op("Add");
  node.add_inputs("x");
  node.add_inputs("w");
  node.add_outputs("y");
  graph.add_outputs("y");
  return graph;
}

absl::StatusOr<GraphDef> Read(const v1::Graph& graph,
                              const GraphLimits& limits = GraphLimits(),
                              TensorById tensor_by_id = NoTensorById) {
  const std::string bytes = graph.SerializeAsString();
  return GraphFromProto({bytes.data(), bytes.size()}, limits, tensor_by_id);
}

std::string ErrorOf(const v1::Graph& graph,
                    const GraphLimits& limits = GraphLimits()) {
  const absl::Status status = Read(graph, limits).status();
  EXPECT_FALSE(status.ok());
  return std::string(status.message());
}

TEST(GraphFromProtoTest, ReadsNamesTypesAndConstants) {
  const absl::StatusOr<GraphDef> graph = Read(AddGraph());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->name, "add");
  EXPECT_EQ(graph->opset, 17);
  EXPECT_EQ(graph->inputs[0].dtype, DType::kFloat32);
  EXPECT_EQ(std::get<std::string>((*graph->inputs[0].dims)[0]), "batch");
  EXPECT_EQ(std::get<int64_t>((*graph->inputs[0].dims)[1]), 2);
  EXPECT_EQ(graph->initializers[0].tensor.shape(), Shape({2}));
  EXPECT_THAT(graph->nodes[0].inputs, ElementsAre("x", "w"));
  EXPECT_EQ(graph->outputs[0].name, "y");
}

TEST(GraphFromProtoTest, ReadsEveryTypeOfAttributeThatThereIs) {
  v1::Graph proto = AddGraph();
  v1::Node& node = *proto.mutable_nodes(0);
  const auto add = [&](const char* name) {
    v1::Attribute& attribute = *node.add_attributes();
    attribute.set_name(name);
    return &attribute;
  };
  add("f")->set_float_value(0.5f);
  add("i")->set_int_value(-3);
  add("s")->set_string_value("a");
  add("floats")->mutable_floats()->add_values(1);
  add("ints")->mutable_ints()->add_values(2);
  add("none")->mutable_ints();
  add("strings")->mutable_strings()->add_values("b");
  v1::Tensor& tensor = *add("t")->mutable_tensor();
  tensor.set_dtype(v1::DTYPE_UINT8);
  tensor.set_data("\x07");
  add("g")->mutable_graph()->set_name("body");
  const absl::StatusOr<GraphDef> graph = Read(proto);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const Attributes& attributes = graph->nodes[0].attributes;
  EXPECT_EQ(*attributes.Float("f", 0), 0.5f);
  EXPECT_EQ(*attributes.Int("i", 0), -3);
  EXPECT_EQ(*attributes.String("s", ""), "a");
  EXPECT_EQ(attributes.Floats("floats")->size(), 1u);
  EXPECT_EQ(attributes.Ints("ints")->size(), 1u);
  EXPECT_TRUE(attributes.Has("none"));
  EXPECT_EQ(attributes.Tensor("t")->values<uint8_t>()[0], 7);
  EXPECT_EQ(
      std::get<std::shared_ptr<const GraphDef>>(*attributes.Find("g"))->name,
      "body");
}

TEST(GraphFromProtoTest, ATensorByHandleIsAskedFor) {
  v1::Graph proto = AddGraph();
  proto.mutable_initializers(0)->set_tensor_id("here.abc");
  EXPECT_THAT(ErrorOf(proto),
              HasSubstr("initializer 'w': tensor 'here.abc': tensors by handle "
                        "are not supported"));
  std::string asked;
  const absl::StatusOr<GraphDef> graph =
      Read(proto, GraphLimits(), [&](absl::string_view id) {
        asked = std::string(id);
        return absl::StatusOr<HostTensor>(HostTensor::Int64s({1}));
      });
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(asked, "here.abc");
  EXPECT_EQ(graph->initializers[0].tensor.dtype(), DType::kInt64);
}

TEST(GraphFromProtoTest, APromisedBoundIsKept) {
  v1::Graph proto = AddGraph();
  proto.mutable_inputs(0)->mutable_dims(0)->set_max_size(32);
  EXPECT_THAT(Read(proto)->inputs[0].max_extents,
              ElementsAre(32, SymbolTable::kUnbounded));
  proto.mutable_inputs(0)->mutable_dims(0)->set_max_size(-2);
  EXPECT_EQ(ErrorOf(proto), "input 'x': max_size -2 is below 0");
}

TEST(GraphFromProtoTest, ContradictionsAreRefusedWithTheirPlace) {
  v1::Graph proto = AddGraph();
  proto.mutable_inputs(0)->set_name("w");
  EXPECT_EQ(ErrorOf(proto), "input 'w' is also an initializer");

  proto = AddGraph();
  proto.mutable_initializers(0)->mutable_tensor()->add_dims(3);
  EXPECT_EQ(ErrorOf(proto),
            "initializer 'w': 8 bytes for float32 [2, 3], which takes 24");
  proto.mutable_initializers(0)->clear_source();
  EXPECT_THAT(ErrorOf(proto), HasSubstr("neither a tensor nor a tensor_id"));

  proto = AddGraph();
  proto.mutable_inputs(0)->set_dtype(static_cast<v1::DType>(99));
  EXPECT_THAT(ErrorOf(proto), HasSubstr("input 'x': dtype 99"));
  proto.mutable_inputs(0)->set_dtype(v1::DTYPE_FLOAT32);
  proto.mutable_inputs(0)->set_rank_unknown(true);
  EXPECT_THAT(ErrorOf(proto), HasSubstr("rank_unknown is set with 2 dims"));

  proto = AddGraph();
  proto.mutable_nodes(0)->set_name("a");
  proto.mutable_nodes(0)->add_attributes()->set_name("axis");
  EXPECT_EQ(ErrorOf(proto), "node 'a' (Add): attribute 'axis': has no value");
}

TEST(GraphFromProtoTest, WhatIsNotSupportedIsRefusedByName) {
  v1::Graph proto = AddGraph();
  proto.mutable_inputs(0)->set_kind(v1::VALUE_KIND_SEQUENCE);
  EXPECT_EQ(Read(proto).status().code(), absl::StatusCode::kUnimplemented);
  proto = AddGraph();
  proto.mutable_initializers(0)->mutable_tensor()->set_dtype(v1::DTYPE_STRING);
  EXPECT_EQ(ErrorOf(proto),
            "initializer 'w': tensors of strings are not supported");
  proto = AddGraph();
  v1::Attribute& attribute = *proto.mutable_nodes(0)->add_attributes();
  attribute.set_name("bodies");
  attribute.mutable_graphs();
  EXPECT_THAT(ErrorOf(proto), HasSubstr("lists of graphs"));
}

TEST(GraphFromProtoTest, CountsAreLimitedBeforeAnythingIsParsed) {
  GraphLimits limits;
  limits.max_nodes = 3;
  limits.max_rank = 2;
  limits.max_values = 9;
  v1::Graph proto = AddGraph();
  for (int i = 0; i < 3; ++i) proto.add_nodes();
  EXPECT_EQ(ErrorOf(proto, limits),
            "graph has 4 nodes; the limit max_nodes is 3 (--max-nodes)");
  proto = AddGraph();
  proto.mutable_initializers(0)->mutable_tensor()->add_dims(1);
  proto.mutable_initializers(0)->mutable_tensor()->add_dims(1);
  EXPECT_THAT(ErrorOf(proto, limits), HasSubstr("has 3 dimensions"));
  proto = AddGraph();
  for (int i = 0; i < 10; ++i) proto.mutable_nodes(0)->add_outputs("o");
  EXPECT_THAT(ErrorOf(proto, limits), HasSubstr("values; the limit"));
}

TEST(GraphFromProtoTest, ThreeThousandLevelsAreRefusedWithoutRecursion) {
  std::string bytes;
  for (int i = 0; i < 3'000; ++i) {
    // graph (8) in an attribute (6) in a node (6), built from the inside out.
    for (int field : {8, 6, 6}) {
      std::string header(1, static_cast<char>(field << 3 | 2));
      for (size_t rest = bytes.size();; rest >>= 7) {
        header.push_back(
            static_cast<char>((rest & 127) | (rest > 127 ? 128 : 0)));
        if (rest <= 127) break;
      }
      bytes = header + bytes;
    }
  }
  const absl::Status status =
      GraphFromProto({bytes.data(), bytes.size()}, GraphLimits()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("has 17 levels of nested graphs; the limit "
                        "max_nesting_depth is 16"));
}

TEST(GraphFromProtoTest, NamesThatAreNotUtf8AreRefused) {
  const std::string bytes = "\x0a\x02\xff\xfe";
  const absl::Status status =
      GraphFromProto({bytes.data(), bytes.size()}, GraphLimits()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("UTF-8"));
}

TEST(GraphFromProtoTest, TruncatedAndChangedBytesNeverEndTheProcess) {
  const std::string original = AddGraph().SerializeAsString();
  for (size_t size = 0; size < original.size(); ++size) {
    GraphFromProto({original.data(), size}, GraphLimits()).IgnoreError();
  }
  std::mt19937 random(3);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = original;
    for (int i = 0; i < 3; ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    GraphFromProto({bytes.data(), bytes.size()}, GraphLimits()).IgnoreError();
  }
}

}  // namespace
}  // namespace tensord
