#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/graph_builder.h"
#include "engine/graph/node_error.h"
#include "engine/graph/status_macros.h"
#include "engine/onnx/graph_reader.h"
#include "engine/onnx/onnx_attribute.h"
#include "engine/onnx/onnx_tensor.h"
#include "onnx/onnx.pb.h"

// What the names, attributes and tensors of a node stand for: in the model's
// own graphs what they say, in a function what the call gives.

namespace tensord {
namespace {

// Bytes that a copy of the attribute takes; tensors and graphs are shared.
uint64_t CopiedBytes(const Attribute& attribute) {
  if (const auto* text = std::get_if<std::string>(&attribute)) {
    return text->size();
  }
  if (const auto* ints = std::get_if<std::vector<int64_t>>(&attribute)) {
    return ints->size() * sizeof(int64_t);
  }
  if (const auto* floats = std::get_if<std::vector<float>>(&attribute)) {
    return floats->size() * sizeof(float);
  }
  uint64_t bytes = 0;
  if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute)) {
    for (const std::string& text : *texts) bytes += sizeof(text) + text.size();
  }
  return bytes;
}

}  // namespace

absl::StatusOr<OnnxGraphReader::Frame> OnnxGraphReader::Enter(
    const OnnxFunction& function, onnx::NodeProto& call, const Frame& caller,
    GraphDef& graph) {
  onnx::FunctionProto& proto = *function.proto;
  if (call.input_size() > proto.input_size() ||
      call.output_size() > proto.output_size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(call.input_size(), " inputs and ", call.output_size(),
                     " outputs, where ", function.label, " has ",
                     proto.input_size(), " and ", proto.output_size()));
  }
  TENSORD_ASSIGN_OR_RETURN(Attributes arguments, ReadAttributes(call, caller));
  for (absl::string_view name : arguments.Names()) {
    if (!function.parameters.contains(name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "attribute ", Quoted(name), " is not declared by ", function.label));
    }
    if (std::holds_alternative<std::shared_ptr<const GraphDef>>(
            *arguments.Find(name))) {
      return AtAttribute(
          name, absl::UnimplementedError(
                    "a graph as an argument of a function is not supported"));
    }
  }

  auto scope = std::make_unique<Scope>(function, std::move(arguments));
  for (int i = 0; i < proto.input_size(); ++i) {
    std::string actual;
    if (i < call.input_size()) {
      TENSORD_ASSIGN_OR_RETURN(actual, Resolve(call.input(i), caller.scope));
    }
    scope->Define(proto.input(i), std::move(actual));
  }
  for (int i = 0; i < call.output_size(); ++i) {
    TENSORD_ASSIGN_OR_RETURN(std::string actual,
                             Resolve(call.output(i), caller.scope));
    if (actual.empty()) continue;
    if (!scope->Defines(proto.output(i))) {
      scope->Define(proto.output(i), std::move(actual));
      continue;
    }
    // The function hands on an input.
    NodeDef identity;
    identity.op_type = "Identity";
    identity.opset = kMinOpset;
    TENSORD_ASSIGN_OR_RETURN(identity.inputs.emplace_back(),
                             scope->Resolve(proto.output(i)));
    identity.outputs.push_back(std::move(actual));
    graph.nodes.push_back(std::move(identity));
  }
  for (const onnx::NodeProto& node : proto.node()) {
    for (const std::string& output : node.output()) {
      if (!output.empty() && !scope->Defines(output)) {
        scope->Define(output, fresh_.Make(output));
      }
    }
  }
  const Scope* const borrowed = scope.get();
  return Frame{
      .nodes = proto.mutable_node(),
      .scope = borrowed,
      .path = JoinPath(caller.path,
                       call.name().empty() ? call.op_type() : call.name()),
      .owned_scope = std::move(scope)};
}

absl::StatusOr<Attributes> OnnxGraphReader::ReadAttributes(
    onnx::NodeProto& proto, const Frame& frame) {
  Attributes attributes;
  for (onnx::AttributeProto& attribute : *proto.mutable_attribute()) {
    // What an optional would hold is seen when it holds something.
    if (attribute.type() == onnx::AttributeProto::TYPE_PROTO &&
        proto.op_type() == "Optional" && attribute.name() == "type") {
      continue;
    }
    absl::StatusOr<std::optional<Attribute>> value =
        ReadAttribute(attribute, frame);
    if (!value.ok()) return AtAttribute(attribute.name(), value.status());
    if (!value->has_value()) continue;
    if (!attributes.Add(attribute.name(), **std::move(value))) {
      return absl::InvalidArgumentError(absl::StrCat(
          "attribute ", Quoted(attribute.name()), " is given twice"));
    }
  }
  return attributes;
}

absl::StatusOr<std::optional<Attribute>> OnnxGraphReader::ReadAttribute(
    onnx::AttributeProto& proto, const Frame& frame) {
  const Scope* const scope = frame.scope;
  if (!proto.ref_attr_name().empty()) {
    if (scope == nullptr) {
      return absl::InvalidArgumentError(
          "refers to an attribute of a function, and is in none");
    }
    TENSORD_ASSIGN_OR_RETURN(const Attribute* argument,
                             scope->Argument(proto.ref_attr_name()));
    if (argument == nullptr) return std::nullopt;
    TENSORD_RETURN_IF_ERROR(CheckReferenceType(proto, *argument));
    TENSORD_RETURN_IF_ERROR(Charge(CopiedBytes(*argument)));
    return *argument;
  }
  // Named, since the parts only refer to them.
  const auto read_tensor = [&](onnx::TensorProto& tensor) {
    return ReadTensor(tensor, scope);
  };
  const auto read_graph =
      [&](onnx::GraphProto& body) -> absl::StatusOr<GraphDef> {
    if (scope == nullptr) {
      return ReadGraph(body, nullptr, frame.path, ValuePlace::kBody);
    }
    const Scope inner(body, *scope, fresh_);
    return ReadGraph(body, &inner, frame.path, ValuePlace::kBody);
  };
  TENSORD_ASSIGN_OR_RETURN(
      Attribute value,
      ReadOnnxAttribute(proto, {.tensor = read_tensor, .graph = read_graph}));
  if (scope != nullptr) TENSORD_RETURN_IF_ERROR(Charge(CopiedBytes(value)));
  return value;
}

absl::StatusOr<HostTensor> OnnxGraphReader::ReadTensor(onnx::TensorProto& proto,
                                                       const Scope* scope) {
  if (scope == nullptr) return ReadOnnxTensor(proto);
  if (const auto it = shared_tensors_.find(&proto);
      it != shared_tensors_.end()) {
    return it->second;
  }
  TENSORD_ASSIGN_OR_RETURN(HostTensor tensor, ReadOnnxTensor(proto));
  shared_tensors_.emplace(&proto, tensor);
  return tensor;
}

absl::StatusOr<std::string> OnnxGraphReader::Resolve(const std::string& name,
                                                     const Scope* scope) {
  if (scope == nullptr) return name;
  TENSORD_ASSIGN_OR_RETURN(std::string actual, scope->Resolve(name));
  TENSORD_RETURN_IF_ERROR(Charge(sizeof(std::string) + actual.size()));
  return actual;
}

absl::Status OnnxGraphReader::Charge(uint64_t bytes) {
  expanded_bytes_ += bytes;
  if (expanded_bytes_ <= kMaxExpandedBytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the functions of the model, expanded, have more than ",
                   kMaxExpandedBytes, " bytes of names and attributes"));
}

}  // namespace tensord
