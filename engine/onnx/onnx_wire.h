#ifndef TENSORD_ENGINE_ONNX_ONNX_WIRE_H_
#define TENSORD_ENGINE_ONNX_ONNX_WIRE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/graph/limits.h"

namespace tensord {

// ScanWire() for a serialized onnx.ModelProto: nesting, nodes, values,
// operands, attributes of a node and dimensions of a tensor. Threading and
// ownership: pure.
absl::Status ScanOnnxModel(absl::string_view bytes, const GraphLimits& limits);

}  // namespace tensord

#endif  // TENSORD_ENGINE_ONNX_ONNX_WIRE_H_
