#include "engine/onnx/onnx_reader.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/node_error.h"
#include "engine/graph/status_macros.h"
#include "engine/graph/wire_scan.h"
#include "engine/onnx/onnx_attribute.h"
#include "engine/onnx/onnx_tensor.h"
#include "engine/onnx/onnx_wire.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/stubs/logging.h"
#include "onnx/onnx.pb.h"

namespace tensord {
namespace {

absl::string_view KindOfType(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kSequenceType:
      return "a sequence";
    case onnx::TypeProto::kMapType:
      return "a map";
    case onnx::TypeProto::kOptionalType:
      return "an optional";
    case onnx::TypeProto::kSparseTensorType:
      return "a sparse tensor";
    case onnx::TypeProto::kOpaqueType:
      return "an opaque value";
    default:
      return "of no known type";
  }
}

absl::StatusOr<ValueDef> ReadValueInfo(const onnx::ValueInfoProto& proto) {
  ValueDef value;
  value.name = proto.name();
  const onnx::TypeProto& type = proto.type();
  // In nested graphs, and in outputs of some exporters, types are left out.
  if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET) return value;
  if (type.value_case() != onnx::TypeProto::kTensorType) {
    return absl::UnimplementedError(
        absl::StrCat("is ", KindOfType(type), "; only tensors are supported"));
  }
  const onnx::TypeProto::Tensor& tensor = type.tensor_type();
  if (tensor.elem_type() != 0) {
    const std::optional<DType> dtype = DTypeFromNumber(tensor.elem_type());
    if (!dtype.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("elem_type ", tensor.elem_type(), " is no dtype"));
    }
    value.dtype = *dtype;
  }
  if (!tensor.has_shape()) return value;
  value.dims.emplace();
  for (const auto& dim : tensor.shape().dim()) {
    if (dim.has_dim_value()) {
      value.dims->emplace_back(int64_t{dim.dim_value()});
    } else if (!dim.dim_param().empty()) {
      value.dims->emplace_back(dim.dim_param());
    } else {
      value.dims->emplace_back();
    }
  }
  return value;
}

// Takes a GraphProto apart. Recursion over nested graphs is bounded: the scan
// has refused what nests deeper than max_nesting_depth.
class GraphReader {
 public:
  static absl::StatusOr<GraphDef> Read(onnx::GraphProto& proto) {
    GraphDef graph;
    graph.name = proto.name();
    if (proto.sparse_initializer_size() > 0) {
      return absl::UnimplementedError(
          absl::StrCat("sparse initializer ",
                       Quoted(proto.sparse_initializer(0).values().name()),
                       ": sparse tensors are not supported"));
    }
    for (onnx::TensorProto& tensor : *proto.mutable_initializer()) {
      absl::StatusOr<HostTensor> read = ReadOnnxTensor(tensor);
      if (!read.ok())
        return AtValue("initializer", tensor.name(), read.status());
      graph.initializers.push_back({tensor.name(), *std::move(read)});
    }
    for (const onnx::ValueInfoProto& input : proto.input()) {
      absl::StatusOr<ValueDef> value = ReadValueInfo(input);
      if (!value.ok()) return AtValue("input", input.name(), value.status());
      graph.inputs.push_back(*std::move(value));
    }
    for (const onnx::ValueInfoProto& output : proto.output()) {
      absl::StatusOr<ValueDef> value = ReadValueInfo(output);
      if (!value.ok()) return AtValue("output", output.name(), value.status());
      graph.outputs.push_back(*std::move(value));
    }
    TENSORD_RETURN_IF_ERROR(ReadNodes(proto, graph));
    return graph;
  }

 private:
  static absl::Status ReadNodes(onnx::GraphProto& proto, GraphDef& graph) {
    absl::flat_hash_set<absl::string_view> names;
    for (onnx::NodeProto& proto_node : *proto.mutable_node()) {
      absl::StatusOr<NodeDef> node = ReadNode(proto_node);
      if (!node.ok()) {
        return AtNode(proto_node.name(), proto_node.op_type(), node.status());
      }
      // ONNX does not ask for different names of nodes: one that came before is
      // as good as none.
      if (!names.insert(proto_node.name()).second) node->name.clear();
      graph.nodes.push_back(*std::move(node));
    }
    return absl::OkStatus();
  }

  static absl::StatusOr<NodeDef> ReadNode(onnx::NodeProto& proto) {
    if (!proto.overload().empty()) {
      return absl::UnimplementedError(
          absl::StrCat("overload ", Quoted(proto.overload()),
                       ": functions are not supported"));
    }
    NodeDef node;
    node.name = proto.name();
    node.domain = proto.domain();
    node.op_type = proto.op_type();
    node.inputs.assign(proto.input().begin(), proto.input().end());
    node.outputs.assign(proto.output().begin(), proto.output().end());
    for (onnx::AttributeProto& attribute : *proto.mutable_attribute()) {
      absl::StatusOr<Attribute> value =
          ReadOnnxAttribute(attribute, &GraphReader::Read);
      if (!value.ok()) {
        return AtAttribute(attribute.name(), value.status());
      }
      if (!node.attributes.Add(attribute.name(), *std::move(value))) {
        return absl::InvalidArgumentError(absl::StrCat(
            "attribute ", Quoted(attribute.name()), " is given twice"));
      }
    }
    return node;
  }
};

absl::Status CheckHeader(const onnx::ModelProto& model) {
  if (!model.has_ir_version()) {
    return absl::InvalidArgumentError("model has no IR version");
  }
  if (model.ir_version() < kMinOnnxIrVersion ||
      model.ir_version() > kMaxOnnxIrVersion) {
    return absl::UnimplementedError(absl::StrCat(
        "IR version ", model.ir_version(), " is outside those supported, ",
        kMinOnnxIrVersion, " to ", kMaxOnnxIrVersion));
  }
  if (model.functions_size() > 0) {
    return absl::UnimplementedError(absl::StrCat(
        "function ", Quoted(model.functions(0).name()), " of domain ",
        Quoted(model.functions(0).domain()), ": functions are not supported"));
  }
  if (model.training_info_size() > 0) {
    return absl::UnimplementedError(
        absl::StrCat("model has ", model.training_info_size(),
                     " training_info; training is not supported"));
  }
  if (!model.has_graph()) {
    return absl::InvalidArgumentError("model has no graph");
  }
  return absl::OkStatus();
}

// The version of the default domain. Other domains may be imported: using one
// is what is refused, with the node's name.
absl::StatusOr<int64_t> ReadOpset(const onnx::ModelProto& model) {
  std::optional<int64_t> version;
  for (const onnx::OperatorSetIdProto& opset : model.opset_import()) {
    if (!opset.domain().empty() && opset.domain() != "ai.onnx") continue;
    if (version.has_value() && *version != opset.version()) {
      return absl::InvalidArgumentError(
          absl::StrCat("model imports operator set versions ", *version,
                       " and ", opset.version()));
    }
    version = opset.version();
  }
  if (!version.has_value()) {
    return absl::InvalidArgumentError(
        "model imports no version of ONNX's operator set");
  }
  return *version;
}

}  // namespace

absl::StatusOr<GraphDef> ReadOnnx(absl::string_view bytes,
                                  const GraphLimits& limits) {
  constexpr size_t kMaxBytes = std::numeric_limits<int>::max();
  if (bytes.size() > kMaxBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("model has ", bytes.size(),
                     " bytes; the ONNX format ends "
                     "at ",
                     kMaxBytes));
  }
  TENSORD_RETURN_IF_ERROR(ScanOnnxModel(bytes, limits));
  google::protobuf::io::CodedInputStream input(
      reinterpret_cast<const uint8_t*>(bytes.data()),
      static_cast<int>(bytes.size()));
  input.SetRecursionLimit(WireDepthLimit(limits.max_nesting_depth));
  // A debug build of protobuf prints every string that is not UTF-8; BuildGraph
  // refuses those that matter, and a client must not fill the log.
  const google::protobuf::LogSilencer silencer;
  onnx::ModelProto model;
  if (!model.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the ", bytes.size(), " bytes are no ONNX model"));
  }
  TENSORD_RETURN_IF_ERROR(AtGraph(CheckHeader(model)));
  absl::StatusOr<GraphDef> graph = GraphReader::Read(*model.mutable_graph());
  if (!graph.ok()) return AtGraph(graph.status());
  absl::StatusOr<int64_t> opset = ReadOpset(model);
  if (!opset.ok()) return AtGraph(opset.status());
  graph->opset = *opset;
  return graph;
}

}  // namespace tensord
