#ifndef TENSORD_ENGINE_ONNX_ONNX_READER_H_
#define TENSORD_ENGINE_ONNX_ONNX_READER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/graph/graph_def.h"
#include "engine/graph/limits.h"

namespace tensord {

// A serialized onnx.ModelProto as a definition that BuildGraph() takes. The
// bytes are counted before they are parsed (see ScanWire), and functions before
// they are expanded, so that a small file cannot take much memory, time or
// stack.
//
// An initializer that is an input as well stays a constant: before IR version 4
// every weight was one; since then it is a default, and a run cannot give
// another value.
//
// Threading: pure. Ownership: copies what it needs; the bytes may go
// afterwards. Errors: kInvalidArgument for bytes that are no model, with the
// offset, and for
//   a model that contradicts itself; kResourceExhausted for a limit;
//   kUnimplemented, with the name, for training information, sparse tensors,
//   strings, inputs and outputs that are no tensors, and IR versions outside
//   [kMinOnnxIrVersion, kMaxOnnxIrVersion]. See README.md for the list.
absl::StatusOr<GraphDef> ReadOnnx(absl::string_view bytes,
                                  const GraphLimits& limits);

inline constexpr int64_t kMinOnnxIrVersion = 3;
inline constexpr int64_t kMaxOnnxIrVersion = 13;

}  // namespace tensord

#endif  // TENSORD_ENGINE_ONNX_ONNX_READER_H_
