#include "server/graph_codec/graph_from_proto.h"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/dim.h"
#include "engine/graph/escape.h"
#include "engine/graph/node_error.h"
#include "engine/graph/status_macros.h"
#include "engine/graph/wire_scan.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/stubs/logging.h"
#include "server/graph_codec/graph_wire.h"
#include "server/graph_codec/tensor_from_proto.h"
#include "tensord/v1/graph.pb.h"

namespace tensord {
namespace {

absl::StatusOr<ValueDef> ReadValueInfo(const v1::ValueInfo& proto) {
  if (proto.kind() != v1::VALUE_KIND_UNSPECIFIED &&
      proto.kind() != v1::VALUE_KIND_TENSOR) {
    return absl::UnimplementedError(
        absl::StrCat("kind ", static_cast<int>(proto.kind()),
                     " is not supported; only tensors are"));
  }
  ValueDef value;
  value.name = proto.name();
  if (proto.dtype() != v1::DTYPE_UNSPECIFIED) {
    const std::optional<DType> dtype = DTypeFromNumber(proto.dtype());
    if (!dtype.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("dtype ", static_cast<int>(proto.dtype()),
                       " is not one that there is"));
    }
    value.dtype = *dtype;
  }
  if (proto.rank_unknown()) {
    if (proto.dims_size() == 0) return value;
    return absl::InvalidArgumentError(
        absl::StrCat("rank_unknown is set with ", proto.dims_size(), " dims"));
  }
  value.dims.emplace();
  for (const v1::Dim& dim : proto.dims()) {
    switch (dim.extent_case()) {
      case v1::Dim::kSize:
        value.dims->emplace_back(int64_t{dim.size()});
        break;
      case v1::Dim::kSymbol:
        value.dims->emplace_back(dim.symbol());
        break;
      case v1::Dim::EXTENT_NOT_SET:
        value.dims->emplace_back();
        break;
    }
    if (dim.has_max_size() && dim.max_size() < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("max_size ", dim.max_size(), " is below 0"));
    }
    value.max_extents.push_back(dim.has_max_size() ? int64_t{dim.max_size()}
                                                   : SymbolTable::kUnbounded);
  }
  return value;
}

// Takes a Graph message apart. Recursion over nested graphs is bounded: the
// scan has refused what nests deeper than max_nesting_depth.
class GraphReader {
 public:
  explicit GraphReader(TensorById tensor_by_id) : tensor_by_id_(tensor_by_id) {}

  absl::StatusOr<GraphDef> Read(v1::Graph& proto) {
    GraphDef graph;
    graph.name = proto.name();
    graph.opset = proto.opset_version();
    TENSORD_RETURN_IF_ERROR(ReadInputs(proto, graph));
    for (std::string& output : *proto.mutable_outputs()) {
      graph.outputs.push_back(ValueDef{.name = std::move(output)});
    }
    for (v1::Initializer& initializer : *proto.mutable_initializers()) {
      absl::StatusOr<HostTensor> tensor = ReadSource(initializer);
      if (!tensor.ok()) {
        return AtValue("initializer", initializer.name(), tensor.status());
      }
      graph.initializers.push_back({initializer.name(), *std::move(tensor)});
    }
    for (v1::Node& proto_node : *proto.mutable_nodes()) {
      absl::StatusOr<NodeDef> node = ReadNode(proto_node);
      if (!node.ok()) {
        return AtNode(proto_node.name(), proto_node.op(), node.status());
      }
      graph.nodes.push_back(*std::move(node));
    }
    return graph;
  }

 private:
  static absl::Status ReadInputs(const v1::Graph& proto, GraphDef& graph) {
    absl::flat_hash_set<absl::string_view> constants;
    for (const v1::Initializer& initializer : proto.initializers()) {
      constants.insert(initializer.name());
    }
    for (const v1::ValueInfo& input : proto.inputs()) {
      // What old ONNX files do on purpose is a mistake here.
      if (constants.contains(input.name())) {
        return absl::InvalidArgumentError(absl::StrCat(
            "input ", Quoted(input.name()), " is also an initializer"));
      }
      absl::StatusOr<ValueDef> value = ReadValueInfo(input);
      if (!value.ok()) return AtValue("input", input.name(), value.status());
      graph.inputs.push_back(*std::move(value));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<HostTensor> ReadSource(v1::Initializer& proto) {
    switch (proto.source_case()) {
      case v1::Initializer::kTensor:
        return TensorFromProto(*proto.mutable_tensor());
      case v1::Initializer::kTensorId:
        return tensor_by_id_(proto.tensor_id());
      case v1::Initializer::SOURCE_NOT_SET:
        break;
    }
    return absl::InvalidArgumentError("has neither a tensor nor a tensor_id");
  }

  absl::StatusOr<NodeDef> ReadNode(v1::Node& proto) {
    NodeDef node;
    node.name = proto.name();
    node.domain = proto.domain();
    node.op_type = proto.op();
    node.inputs.assign(proto.inputs().begin(), proto.inputs().end());
    node.outputs.assign(proto.outputs().begin(), proto.outputs().end());
    for (v1::Attribute& attribute : *proto.mutable_attributes()) {
      absl::StatusOr<Attribute> value = ReadAttribute(attribute);
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

  absl::StatusOr<Attribute> ReadAttribute(v1::Attribute& proto) {
    switch (proto.value_case()) {
      case v1::Attribute::kFloatValue:
        return Attribute(proto.float_value());
      case v1::Attribute::kIntValue:
        return Attribute(int64_t{proto.int_value()});
      case v1::Attribute::kStringValue:
        return Attribute(proto.string_value());
      case v1::Attribute::kFloats:
        return Attribute(std::vector<float>(proto.floats().values().begin(),
                                            proto.floats().values().end()));
      case v1::Attribute::kInts:
        return Attribute(std::vector<int64_t>(proto.ints().values().begin(),
                                              proto.ints().values().end()));
      case v1::Attribute::kStrings:
        return Attribute(std::vector<std::string>(
            proto.strings().values().begin(), proto.strings().values().end()));
      case v1::Attribute::kTensor: {
        TENSORD_ASSIGN_OR_RETURN(HostTensor tensor,
                                 TensorFromProto(*proto.mutable_tensor()));
        return Attribute(std::move(tensor));
      }
      case v1::Attribute::kGraph: {
        TENSORD_ASSIGN_OR_RETURN(GraphDef graph, Read(*proto.mutable_graph()));
        return Attribute(std::make_shared<const GraphDef>(std::move(graph)));
      }
      case v1::Attribute::kGraphs:
        return absl::UnimplementedError("lists of graphs are not supported");
      case v1::Attribute::kTensors:
        return absl::UnimplementedError("lists of tensors are not supported");
      case v1::Attribute::kType:
        return absl::UnimplementedError("types are not supported");
      case v1::Attribute::VALUE_NOT_SET:
        break;
    }
    return absl::InvalidArgumentError("has no value");
  }

  TensorById tensor_by_id_;
};

}  // namespace

absl::StatusOr<HostTensor> NoTensorById(absl::string_view tensor_id) {
  return absl::UnimplementedError(absl::StrCat(
      "tensor ", Quoted(tensor_id), ": tensors by handle are not supported"));
}

absl::StatusOr<GraphDef> GraphFromProto(absl::string_view bytes,
                                        const GraphLimits& limits,
                                        TensorById tensor_by_id) {
  constexpr size_t kMaxBytes = std::numeric_limits<int>::max();
  if (bytes.size() > kMaxBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "graph has ", bytes.size(), " bytes; the format ends at ", kMaxBytes));
  }
  TENSORD_RETURN_IF_ERROR(ScanGraphMessage(bytes, limits));
  google::protobuf::io::CodedInputStream input(
      reinterpret_cast<const uint8_t*>(bytes.data()),
      static_cast<int>(bytes.size()));
  input.SetRecursionLimit(WireDepthLimit(limits.max_nesting_depth));
  // protobuf prints every string that is not UTF-8; a client must not fill the
  // log.
  const google::protobuf::LogSilencer silencer;
  v1::Graph proto;
  if (!proto.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the ", bytes.size(),
                     " bytes are no graph: malformed, or "
                     "a name in them is not UTF-8"));
  }
  absl::StatusOr<GraphDef> graph = GraphReader(tensor_by_id).Read(proto);
  if (!graph.ok()) return AtGraph(graph.status());
  return graph;
}

}  // namespace tensord
