#include "engine/onnx/onnx_reader.h"

#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/graph_builder.h"
#include "engine/graph/node_error.h"
#include "engine/graph/status_macros.h"
#include "engine/graph/wire_scan.h"
#include "engine/onnx/expansion_cost.h"
#include "engine/onnx/functions.h"
#include "engine/onnx/graph_reader.h"
#include "engine/onnx/older_nodes.h"
#include "engine/onnx/onnx_wire.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/stubs/logging.h"
#include "onnx/onnx.pb.h"

namespace tensord {
namespace {

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

// The version of the default domain, 0 if none is imported. Other domains may
// be imported: using one that is not known is what is refused, with the node's
// name.
absl::StatusOr<int64_t> ReadOpset(const onnx::ModelProto& model) {
  std::optional<int64_t> version;
  for (const onnx::OperatorSetIdProto& opset : model.opset_import()) {
    if (absl::Status status = CheckTrainingOpset(opset); !status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("model ", status.message()));
    }
    if (!IsDefaultDomain(opset.domain())) continue;
    if (version.has_value() && *version != opset.version()) {
      return absl::InvalidArgumentError(
          absl::StrCat("model imports operator set versions ", *version,
                       " and ", opset.version()));
    }
    version = opset.version();
    if (*version < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "model imports operator set version ", *version, ", below 1"));
    }
  }
  return version.value_or(0);
}

absl::StatusOr<GraphDef> ReadModel(onnx::ModelProto& model,
                                   const GraphLimits& limits) {
  TENSORD_RETURN_IF_ERROR(CheckHeader(model));
  TENSORD_ASSIGN_OR_RETURN(const int64_t opset, ReadOpset(model));
  TENSORD_ASSIGN_OR_RETURN(const FunctionLibrary functions,
                           FunctionLibrary::Create(model));
  onnx::GraphProto& graph = *model.mutable_graph();
  TENSORD_RETURN_IF_ERROR(CheckExpansion(functions, graph, limits));
  TENSORD_ASSIGN_OR_RETURN(GraphDef definition,
                           OnnxGraphReader(functions, opset, graph).Read());
  // Nodes of older operator sets have been brought to kMinOpset. Without a
  // version the model's own graphs have no node that it could be the version
  // of.
  definition.opset = opset == 0            ? kMaxOpset
                     : IsOlderOpset(opset) ? kMinOpset
                                           : opset;
  return definition;
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
  absl::StatusOr<GraphDef> graph = ReadModel(model, limits);
  if (!graph.ok()) return AtGraph(graph.status());
  return graph;
}

}  // namespace tensord
