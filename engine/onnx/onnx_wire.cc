#include "engine/onnx/onnx_wire.h"

#include "engine/graph/wire_scan.h"

namespace tensord {
namespace {

using Kind = WireField::Kind;

enum Message : uint8_t {
  kModel,
  kTrainingInfo,
  kFunction,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparseTensor,
  kValueInfo,
  kType,
  kTensorType,
  kElementType,  // Sequence and Optional
  kMap,
  kShape,
};

constexpr absl::string_view kMessageNames[] = {
    "ModelProto",    "TrainingInfoProto", "FunctionProto",
    "GraphProto",    "NodeProto",         "AttributeProto",
    "TensorProto",   "SparseTensorProto", "ValueInfoProto",
    "TypeProto",     "TypeProto.Tensor",  "TypeProto.Sequence",
    "TypeProto.Map", "TensorShapeProto"};

enum Counter : int8_t {
  kNodes,
  kValues,
  kOperands,
  kAttributes,
  kDims,
};

// Field numbers as in proto/onnx/onnx.proto.
constexpr WireField kFields[] = {
    {kModel, 7, Kind::kMessage, kGraph},
    {kModel, 20, Kind::kMessage, kTrainingInfo},
    {kModel, 25, Kind::kMessage, kFunction},
    {kTrainingInfo, 1, Kind::kMessage, kGraph},
    {kTrainingInfo, 2, Kind::kMessage, kGraph},
    {kFunction, 7, Kind::kMessage, kNode, kNodes},
    {kFunction, 4, Kind::kText, 0, kOperands},
    {kFunction, 5, Kind::kText, 0, kValues},
    {kFunction, 6, Kind::kText, 0, kAttributes},
    {kFunction, 11, Kind::kMessage, kAttribute, kAttributes},
    {kFunction, 12, Kind::kMessage, kValueInfo},
    {kGraph, 1, Kind::kMessage, kNode, kNodes},
    {kGraph, 5, Kind::kMessage, kTensor, kValues},
    {kGraph, 11, Kind::kMessage, kValueInfo, kValues},
    {kGraph, 12, Kind::kMessage, kValueInfo, kValues},
    {kGraph, 13, Kind::kMessage, kValueInfo},
    {kGraph, 15, Kind::kMessage, kSparseTensor, kValues},
    {kNode, 1, Kind::kText, 0, kOperands},
    {kNode, 2, Kind::kText, 0, kValues},
    {kNode, 5, Kind::kMessage, kAttribute, kAttributes},
    {kAttribute, 5, Kind::kMessage, kTensor},
    {kAttribute, 6, Kind::kMessage, kGraph},
    {kAttribute, 10, Kind::kMessage, kTensor},
    {kAttribute, 11, Kind::kMessage, kGraph},
    {kAttribute, 14, Kind::kMessage, kType},
    {kAttribute, 15, Kind::kMessage, kType},
    {kAttribute, 22, Kind::kMessage, kSparseTensor},
    {kAttribute, 23, Kind::kMessage, kSparseTensor},
    {kTensor, 1, Kind::kIntegers, 0, kDims},
    {kSparseTensor, 1, Kind::kMessage, kTensor},
    {kSparseTensor, 2, Kind::kMessage, kTensor},
    {kSparseTensor, 3, Kind::kIntegers, 0, kDims},
    {kValueInfo, 2, Kind::kMessage, kType},
    {kType, 1, Kind::kMessage, kTensorType},
    {kType, 4, Kind::kMessage, kElementType},
    {kType, 5, Kind::kMessage, kMap},
    {kType, 8, Kind::kMessage, kTensorType},
    {kType, 9, Kind::kMessage, kElementType},
    {kTensorType, 2, Kind::kMessage, kShape},
    {kElementType, 1, Kind::kMessage, kType},
    {kMap, 2, Kind::kMessage, kType},
    {kShape, 1, Kind::kText, 0, kDims},
};

}  // namespace

absl::Status ScanOnnxModel(absl::string_view bytes, const GraphLimits& limits) {
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
                             .root = kModel,
                             .graph = kGraph,
                             .max_nesting_depth = limits.max_nesting_depth});
}

}  // namespace tensord
