#include "engine/onnx/graph_reader.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/graph_builder.h"
#include "engine/graph/node_error.h"
#include "engine/graph/status_macros.h"
#include "engine/onnx/batch_normalization.h"
#include "engine/onnx/flex_attention.h"
#include "engine/onnx/older_nodes.h"
#include "onnx/onnx.pb.h"

namespace tensord {
namespace {

uint64_t CopiedBytes(const ValueDef& value) {
  uint64_t bytes = sizeof(value);
  if (!value.dims.has_value()) return bytes;
  for (const DimDef& dim : *value.dims) {
    bytes += sizeof(dim);
    if (const auto* symbol = std::get_if<std::string>(&dim)) {
      bytes += symbol->size();
    }
  }
  return bytes;
}

// Of a node that stands with others for one of the model, names included.
constexpr uint64_t kHelperBytes = sizeof(NodeDef) + 256;

}  // namespace

absl::StatusOr<GraphDef> OnnxGraphReader::Read() {
  return ReadGraph(graph_, /*scope=*/nullptr, /*path=*/"", ValuePlace::kBorder);
}

absl::StatusOr<GraphDef> OnnxGraphReader::ReadGraph(onnx::GraphProto& proto,
                                                    const Scope* scope,
                                                    const std::string& path,
                                                    ValuePlace place) {
  if (proto.sparse_initializer_size() > 0) {
    return absl::UnimplementedError(
        absl::StrCat("sparse initializer ",
                     Quoted(proto.sparse_initializer(0).values().name()),
                     ": sparse tensors are not supported"));
  }
  GraphDef graph;
  graph.name = proto.name();
  if (scope != nullptr) {
    TENSORD_RETURN_IF_ERROR(Charge(sizeof(graph) + graph.name.size()));
  }
  for (onnx::TensorProto& tensor : *proto.mutable_initializer()) {
    absl::StatusOr<HostTensor> read = ReadTensor(tensor, scope);
    if (!read.ok()) return AtValue("initializer", tensor.name(), read.status());
    TENSORD_ASSIGN_OR_RETURN(std::string name, Resolve(tensor.name(), scope));
    graph.initializers.push_back({std::move(name), *std::move(read)});
  }
  const auto read_values =
      [&](absl::string_view noun,
          const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& infos,
          std::vector<ValueDef>& values) -> absl::Status {
    for (const onnx::ValueInfoProto& info : infos) {
      absl::StatusOr<ValueDef> value = ReadOnnxValueInfo(info, place);
      if (!value.ok()) return AtValue(noun, info.name(), value.status());
      TENSORD_ASSIGN_OR_RETURN(value->name, Resolve(info.name(), scope));
      if (scope != nullptr) {
        TENSORD_RETURN_IF_ERROR(Charge(CopiedBytes(*value)));
      }
      values.push_back(*std::move(value));
    }
    return absl::OkStatus();
  };
  TENSORD_RETURN_IF_ERROR(read_values("input", proto.input(), graph.inputs));
  TENSORD_RETURN_IF_ERROR(read_values("output", proto.output(), graph.outputs));
  TENSORD_RETURN_IF_ERROR(ReadNodes(
      {.nodes = proto.mutable_node(), .scope = scope, .path = path}, graph));
  return graph;
}

absl::Status OnnxGraphReader::ReadNodes(Frame first, GraphDef& graph) {
  std::vector<Frame> frames;
  frames.push_back(std::move(first));
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.next == frame.nodes->size()) {
      frames.pop_back();
      continue;
    }
    onnx::NodeProto& proto = *frame.nodes->Mutable(frame.next++);
    absl::Status status;
    if (const OnnxFunction* function = functions_.Find(proto)) {
      absl::StatusOr<Frame> call = Enter(*function, proto, frame, graph);
      status = call.status();
      if (call.ok()) {
        frames.push_back(*std::move(call));
        continue;
      }
    } else {
      status = ReadNode(proto, frame, graph);
    }
    if (!status.ok()) {
      return AtNode(NameOf(frame), proto.op_type(), status);
    }
  }
  // ONNX does not ask for different names of nodes: one that came before is as
  // good as none.
  absl::flat_hash_set<absl::string_view> names;
  for (NodeDef& node : graph.nodes) {
    if (!names.insert(node.name).second) node.name.clear();
  }
  return absl::OkStatus();
}

absl::Status OnnxGraphReader::ReadNode(onnx::NodeProto& proto,
                                       const Frame& frame, GraphDef& graph) {
  if (!proto.overload().empty()) {
    return absl::UnimplementedError(
        absl::StrCat("overload ", Quoted(proto.overload()),
                     ": the model has no such function"));
  }
  NodeDef node;
  node.domain = proto.domain();
  node.op_type = proto.op_type();
  TENSORD_ASSIGN_OR_RETURN(const int64_t opset, OpsetOf(proto, frame.scope));
  if (frame.scope != nullptr) {
    TENSORD_RETURN_IF_ERROR(
        Charge(sizeof(node) + node.domain.size() + node.op_type.size()));
  }
  for (const std::string& input : proto.input()) {
    TENSORD_ASSIGN_OR_RETURN(node.inputs.emplace_back(),
                             Resolve(input, frame.scope));
  }
  for (const std::string& output : proto.output()) {
    TENSORD_ASSIGN_OR_RETURN(node.outputs.emplace_back(),
                             Resolve(output, frame.scope));
  }
  TENSORD_ASSIGN_OR_RETURN(node.attributes, ReadAttributes(proto, frame));
  node.name = NameOf(frame);
  if (IsOlderOpset(opset)) {
    node.opset = opset;
    return AppendOlderNode(std::move(node), fresh_, graph.nodes);
  }
  if (opset != opset_) node.opset = opset;
  const size_t first = graph.nodes.size();
  if (IsFlexAttention(node)) {
    TENSORD_RETURN_IF_ERROR(
        AppendFlexAttention(std::move(node), fresh_, graph.nodes));
  } else if (TrainsBatchNormalization(node, opset)) {
    TENSORD_RETURN_IF_ERROR(
        AppendBatchNormalizationTraining(std::move(node), fresh_, graph.nodes));
  } else {
    graph.nodes.push_back(std::move(node));
    return absl::OkStatus();
  }
  // The two stand for some twenty nodes each.
  return Charge((graph.nodes.size() - first) * kHelperBytes);
}

std::string OnnxGraphReader::NameOf(const Frame& frame) {
  const int index = frame.next - 1;
  const onnx::NodeProto& proto = frame.nodes->Get(index);
  if (frame.scope == nullptr) return proto.name();
  return JoinPath(frame.path,
                  proto.name().empty()
                      ? absl::StrCat(JoinPath("", proto.op_type()), "_", index)
                      : proto.name());
}

absl::StatusOr<int64_t> OnnxGraphReader::OpsetOf(const onnx::NodeProto& proto,
                                                 const Scope* scope) const {
  if (!IsDefaultDomain(proto.domain())) return 0;
  const int64_t opset = scope == nullptr ? opset_ : scope->function().opset;
  if (opset != 0) return opset;
  return absl::InvalidArgumentError(absl::StrCat(
      scope == nullptr ? absl::string_view("model") : scope->function().label,
      " imports no version of ONNX's operator set"));
}

}  // namespace tensord
