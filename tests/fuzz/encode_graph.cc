#include "tests/fuzz/encode_graph.h"

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "onnx/onnx.pb.h"
#include "tensord/v1/graph.pb.h"

namespace tensord {
namespace {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

std::string BytesOf(const HostTensor& tensor) {
  return std::string(reinterpret_cast<const char*>(tensor.bytes().data()),
                     tensor.bytes().size());
}

// tensord.v1

void Encode(const GraphDef& def, v1::Graph& proto);

void Encode(const HostTensor& tensor, v1::Tensor& proto) {
  proto.set_dtype(static_cast<v1::DType>(tensor.dtype()));
  for (int64_t extent : tensor.shape().extents()) proto.add_dims(extent);
  proto.set_data(BytesOf(tensor));
}

void Encode(const Attribute& attribute, v1::Attribute& proto) {
  std::visit(Overloaded{[&](int64_t value) { proto.set_int_value(value); },
                        [&](float value) { proto.set_float_value(value); },
                        [&](const std::string& value) {
                          proto.set_string_value(value);
                        },
                        [&](const HostTensor& value) {
                          Encode(value, *proto.mutable_tensor());
                        },
                        [&](const std::vector<int64_t>& values) {
                          for (int64_t value : values)
                            proto.mutable_ints()->add_values(value);
                        },
                        [&](const std::vector<float>& values) {
                          for (float value : values)
                            proto.mutable_floats()->add_values(value);
                        },
                        [&](const std::vector<std::string>& values) {
                          for (const std::string& value : values) {
                            proto.mutable_strings()->add_values(value);
                          }
                        },
                        [&](const std::shared_ptr<const GraphDef>& value) {
                          Encode(*value, *proto.mutable_graph());
                        }},
             attribute);
}

void Encode(const ValueDef& value, v1::ValueInfo& proto) {
  proto.set_name(value.name);
  proto.set_dtype(static_cast<v1::DType>(value.dtype));
  proto.set_rank_unknown(!value.dims.has_value());
  if (!value.dims.has_value()) return;
  for (const DimDef& dim : *value.dims) {
    v1::Dim& extent = *proto.add_dims();
    if (const auto* size = std::get_if<int64_t>(&dim)) extent.set_size(*size);
    if (const auto* symbol = std::get_if<std::string>(&dim)) {
      extent.set_symbol(*symbol);
    }
  }
}

void Encode(const GraphDef& def, v1::Graph& proto) {
  proto.set_name(def.name);
  proto.set_opset_version(def.opset);
  absl::flat_hash_set<std::string> constants;
  for (const InitializerDef& initializer : def.initializers) {
    constants.insert(initializer.name);
    v1::Initializer& constant = *proto.add_initializers();
    constant.set_name(initializer.name);
    Encode(initializer.tensor, *constant.mutable_tensor());
  }
  for (const ValueDef& input : def.inputs) {
    if (!constants.contains(input.name)) Encode(input, *proto.add_inputs());
  }
  for (const ValueDef& output : def.outputs) proto.add_outputs(output.name);
  for (const NodeDef& node : def.nodes) {
    v1::Node& proto_node = *proto.add_nodes();
    proto_node.set_name(node.name);
    proto_node.set_op(node.op_type);
    proto_node.set_domain(node.domain);
    for (const std::string& input : node.inputs) proto_node.add_inputs(input);
    for (const std::string& name : node.outputs) proto_node.add_outputs(name);
    for (absl::string_view name : node.attributes.Names()) {
      v1::Attribute& attribute = *proto_node.add_attributes();
      attribute.set_name(std::string(name));
      Encode(*node.attributes.Find(name), attribute);
    }
  }
}

// ONNX

void Encode(const GraphDef& def, onnx::GraphProto& proto);

void Encode(const HostTensor& tensor, onnx::TensorProto& proto) {
  proto.set_data_type(static_cast<int>(tensor.dtype()));
  for (int64_t extent : tensor.shape().extents()) proto.add_dims(extent);
  proto.set_raw_data(BytesOf(tensor));
}

void Encode(const Attribute& attribute, onnx::AttributeProto& proto) {
  std::visit(Overloaded{[&](int64_t value) {
                          proto.set_type(onnx::AttributeProto::INT);
                          proto.set_i(value);
                        },
                        [&](float value) {
                          proto.set_type(onnx::AttributeProto::FLOAT);
                          proto.set_f(value);
                        },
                        [&](const std::string& value) {
                          proto.set_type(onnx::AttributeProto::STRING);
                          proto.set_s(value);
                        },
                        [&](const HostTensor& value) {
                          proto.set_type(onnx::AttributeProto::TENSOR);
                          Encode(value, *proto.mutable_t());
                        },
                        [&](const std::vector<int64_t>& values) {
                          proto.set_type(onnx::AttributeProto::INTS);
                          for (int64_t value : values) proto.add_ints(value);
                        },
                        [&](const std::vector<float>& values) {
                          proto.set_type(onnx::AttributeProto::FLOATS);
                          for (float value : values) proto.add_floats(value);
                        },
                        [&](const std::vector<std::string>& values) {
                          proto.set_type(onnx::AttributeProto::STRINGS);
                          for (const std::string& value : values) {
                            proto.add_strings(value);
                          }
                        },
                        [&](const std::shared_ptr<const GraphDef>& value) {
                          proto.set_type(onnx::AttributeProto::GRAPH);
                          Encode(*value, *proto.mutable_g());
                        }},
             attribute);
}

void Encode(const ValueDef& value, onnx::ValueInfoProto& proto) {
  proto.set_name(value.name);
  if (value.dtype == DType::kUndefined) return;
  auto& tensor = *proto.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(static_cast<int>(value.dtype));
  if (!value.dims.has_value()) return;
  tensor.mutable_shape();
  for (const DimDef& dim : *value.dims) {
    auto& extent = *tensor.mutable_shape()->add_dim();
    if (const auto* size = std::get_if<int64_t>(&dim)) {
      extent.set_dim_value(*size);
    }
    if (const auto* symbol = std::get_if<std::string>(&dim)) {
      extent.set_dim_param(*symbol);
    }
  }
}

void Encode(const GraphDef& def, onnx::GraphProto& proto) {
  proto.set_name(def.name);
  for (const InitializerDef& initializer : def.initializers) {
    onnx::TensorProto& tensor = *proto.add_initializer();
    tensor.set_name(initializer.name);
    Encode(initializer.tensor, tensor);
  }
  for (const ValueDef& input : def.inputs) Encode(input, *proto.add_input());
  for (const ValueDef& output : def.outputs) {
    Encode(output, *proto.add_output());
  }
  for (const NodeDef& node : def.nodes) {
    onnx::NodeProto& proto_node = *proto.add_node();
    proto_node.set_name(node.name);
    proto_node.set_op_type(node.op_type);
    proto_node.set_domain(node.domain);
    for (const std::string& input : node.inputs) proto_node.add_input(input);
    for (const std::string& name : node.outputs) proto_node.add_output(name);
    for (absl::string_view name : node.attributes.Names()) {
      onnx::AttributeProto& attribute = *proto_node.add_attribute();
      attribute.set_name(std::string(name));
      Encode(*node.attributes.Find(name), attribute);
    }
  }
}

}  // namespace

std::string EncodeGraph(const GraphDef& def) {
  v1::Graph proto;
  Encode(def, proto);
  return proto.SerializeAsString();
}

std::string EncodeOnnx(const GraphDef& def) {
  onnx::ModelProto proto;
  proto.set_ir_version(8);
  proto.add_opset_import()->set_version(def.opset);
  Encode(def, *proto.mutable_graph());
  return proto.SerializeAsString();
}

}  // namespace tensord
