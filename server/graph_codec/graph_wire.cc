#include "server/graph_codec/graph_wire.h"

#include "engine/graph/wire_scan.h"

namespace tensord {
namespace {

using Kind = WireField::Kind;

enum Message : uint8_t {
  kGraph,
  kNode,
  kAttribute,
  kGraphList,
  kTensorList,
  kBytesList,
  kInitializer,
  kTensor,
  kValueInfo,
};

constexpr absl::string_view kMessageNames[] = {
    "Graph",     "Node",        "Attribute", "GraphList", "TensorList",
    "BytesList", "Initializer", "Tensor",    "ValueInfo"};

enum Counter : int8_t {
  kNodes,
  kValues,
  kOperands,
  kAttributes,
  kDims,
};

// Field numbers as in proto/tensord/v1/graph.proto and types.proto.
constexpr WireField kFields[] = {
    {kGraph, 4, Kind::kMessage, kValueInfo, kValues},
    {kGraph, 5, Kind::kText, 0, kValues},
    {kGraph, 6, Kind::kMessage, kNode, kNodes},
    {kGraph, 15, Kind::kMessage, kInitializer, kValues},
    {kNode, 4, Kind::kText, 0, kOperands},
    {kNode, 5, Kind::kText, 0, kValues},
    {kNode, 6, Kind::kMessage, kAttribute, kAttributes},
    {kAttribute, 6, Kind::kMessage, kBytesList},
    {kAttribute, 8, Kind::kMessage, kGraph},
    {kAttribute, 9, Kind::kMessage, kGraphList},
    {kAttribute, 10, Kind::kMessage, kValueInfo},
    {kAttribute, 14, Kind::kMessage, kTensorList},
    {kAttribute, 15, Kind::kMessage, kTensor},
    {kGraphList, 1, Kind::kMessage, kGraph},
    {kTensorList, 1, Kind::kMessage, kTensor},
    {kBytesList, 1, Kind::kText},
    {kInitializer, 15, Kind::kMessage, kTensor},
    {kTensor, 2, Kind::kIntegers, 0, kDims},
    {kValueInfo, 3, Kind::kText, 0, kDims},
};

}  // namespace

absl::Status ScanGraphMessage(absl::string_view bytes,
                              const GraphLimits& limits) {
  const WireCounter counters[] = {
      {"nodes", "max_nodes", limits.max_nodes},
      {"values", "max_values", limits.max_values},
      {"operands", "max_operands", limits.max_operands},
      {"attributes", "max_attributes", limits.max_attributes, true},
      {"dimensions", "max_rank", limits.max_rank, true},
  };
  return ScanWire(bytes,
                  WireSchema{.message_names = kMessageNames,
                             .fields = kFields,
                             .counters = counters,
                             .root = kGraph,
                             .graph = kGraph,
                             .max_nesting_depth = limits.max_nesting_depth});
}

}  // namespace tensord
