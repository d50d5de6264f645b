#ifndef TENSORD_ENGINE_ONNX_ONNX_READER_H_
#define TENSORD_ENGINE_ONNX_ONNX_READER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/graph/graph_def.h"
#include "engine/graph/limits.h"

namespace tensord {

// A serialized onnx.ModelProto as a definition that BuildGraph() takes. The
// bytes are counted before they are parsed (see ScanWire), so that a small file
// cannot take much memory or stack.
//
// Threading: pure. Ownership: copies what it needs; the bytes may go
// afterwards. Errors: kInvalidArgument for bytes that are no model, with the
// offset, and for
//   a model that contradicts itself; kResourceExhausted for a limit;
//   kUnimplemented, with the name, for functions, training information, sparse
//   tensors, strings, values that are no tensors, and IR versions outside
//   [kMinOnnxIrVersion, kMaxOnnxIrVersion].
absl::StatusOr<GraphDef> ReadOnnx(absl::string_view bytes,
                                  const GraphLimits& limits);

inline constexpr int64_t kMinOnnxIrVersion = 3;
inline constexpr int64_t kMaxOnnxIrVersion = 13;

}  // namespace tensord

#endif  // TENSORD_ENGINE_ONNX_ONNX_READER_H_
