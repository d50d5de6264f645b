#include "engine/onnx/functions.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/api/op_kind.h"
#include "engine/graph/escape.h"
#include "engine/graph/graph_def.h"
#include "engine/graph/node_error.h"
#include "engine/graph/status_macros.h"
#include "engine/onnx/onnx_attribute.h"
#include "engine/onnx/onnx_tensor.h"
#include "onnx/onnx.pb.h"

namespace tensord {
namespace {

std::string NormalDomain(const std::string& domain) {
  return IsDefaultDomain(domain) ? std::string() : domain;
}

absl::Status InFunction(const OnnxFunction& function, absl::Status status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(function.label, ": ", status.message()));
}

// Inputs and outputs: named, each once, and every output made by something.
absl::Status CheckOperands(const onnx::FunctionProto& proto) {
  absl::flat_hash_set<absl::string_view> inputs;
  for (const std::string& input : proto.input()) {
    if (input.empty()) {
      return absl::InvalidArgumentError("an input has no name");
    }
    if (!inputs.insert(input).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", Quoted(input), " is declared twice"));
    }
  }
  absl::flat_hash_set<absl::string_view> made = inputs;
  for (const onnx::NodeProto& node : proto.node()) {
    for (const std::string& output : node.output()) {
      if (output.empty()) continue;
      if (!made.insert(output).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("value ", Quoted(output), " is defined twice"));
      }
    }
  }
  absl::flat_hash_set<absl::string_view> outputs;
  for (const std::string& output : proto.output()) {
    if (!made.contains(output)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "output ", Quoted(output), " is made by none of its nodes"));
    }
    if (!outputs.insert(output).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("output ", Quoted(output), " is declared twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadParameters(OnnxFunction& function) {
  const auto add = [&](const std::string& name,
                       std::optional<Attribute> value) {
    if (function.parameters.try_emplace(name, std::move(value)).second) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("attribute ", Quoted(name), " is declared twice"));
  };
  for (const std::string& name : function.proto->attribute()) {
    TENSORD_RETURN_IF_ERROR(add(name, std::nullopt));
  }
  // Named, since the parts only refer to it.
  const auto refuse_graph = [](onnx::GraphProto&) -> absl::StatusOr<GraphDef> {
    return absl::UnimplementedError(
        "its default is a graph, which is not supported");
  };
  const OnnxAttributeParts parts{.tensor = &ReadOnnxTensor,
                                 .graph = refuse_graph};
  for (onnx::AttributeProto& proto :
       *function.proto->mutable_attribute_proto()) {
    absl::StatusOr<Attribute> value = ReadOnnxAttribute(proto, parts);
    if (!value.ok()) return AtAttribute(proto.name(), value.status());
    TENSORD_RETURN_IF_ERROR(add(proto.name(), *std::move(value)));
  }
  return absl::OkStatus();
}

absl::Status ReadOpset(OnnxFunction& function) {
  for (const onnx::OperatorSetIdProto& opset : function.proto->opset_import()) {
    TENSORD_RETURN_IF_ERROR(CheckTrainingOpset(opset));
    if (!IsDefaultDomain(opset.domain())) continue;
    if (function.opset != 0 && function.opset != opset.version()) {
      return absl::InvalidArgumentError(
          absl::StrCat("imports operator set versions ", function.opset,
                       " and ", opset.version()));
    }
    if (opset.version() < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "imports operator set version ", opset.version(), ", below 1"));
    }
    function.opset = opset.version();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTrainingOpset(const onnx::OperatorSetIdProto& opset) {
  constexpr int64_t kOnlyVersion = 1;
  if (opset.domain() != kTrainingDomain || opset.version() == kOnlyVersion) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrCat(
      "imports version ", opset.version(), " of domain '", kTrainingDomain,
      "', where only ", kOnlyVersion, " is supported"));
}

absl::StatusOr<FunctionLibrary> FunctionLibrary::Create(
    onnx::ModelProto& model) {
  FunctionLibrary library;
  library.functions_.reserve(model.functions_size());
  for (onnx::FunctionProto& proto : *model.mutable_functions()) {
    OnnxFunction function;
    function.proto = &proto;
    function.index = static_cast<int>(library.functions_.size());
    function.label = absl::StrCat("function ", Quoted(proto.name()),
                                  " of domain ", Quoted(proto.domain()));
    if (!proto.overload().empty()) {
      absl::StrAppend(&function.label, ", overload ", Quoted(proto.overload()));
    }
    if (proto.name().empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("function ", function.index, " has no name"));
    }
    if (!library.by_name_
             .try_emplace(
                 {NormalDomain(proto.domain()), proto.name(), proto.overload()},
                 function.index)
             .second) {
      return absl::InvalidArgumentError(
          absl::StrCat(function.label, ": defined twice"));
    }
    TENSORD_RETURN_IF_ERROR(InFunction(function, CheckOperands(proto)));
    TENSORD_RETURN_IF_ERROR(InFunction(function, ReadOpset(function)));
    TENSORD_RETURN_IF_ERROR(InFunction(function, ReadParameters(function)));
    library.functions_.push_back(std::move(function));
  }
  return library;
}

const OnnxFunction* FunctionLibrary::Find(const onnx::NodeProto& call) const {
  if (functions_.empty()) return nullptr;
  const auto it = by_name_.find(
      Key(NormalDomain(call.domain()), call.op_type(), call.overload()));
  return it == by_name_.end() ? nullptr : &functions_[it->second];
}

}  // namespace tensord
