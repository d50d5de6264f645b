#ifndef TENSORD_TOOLS_TENSORDCTL_ONNX_FILE_H_
#define TENSORD_TOOLS_TENSORDCTL_ONNX_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace tensord::ctl {

// An ONNX model's bytes, ready to be submitted: as in the file, or, if tensors
// of it are in files beside it (external data), with these put in. Only files
// in the model's own folder and below are read, wherever the model points: what
// is submitted leaves this machine. LocalError() with the path for everything
// that fails here; whether the bytes are a good model is the daemon's to say.
absl::StatusOr<std::string> ReadOnnxFile(const std::string& path);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_ONNX_FILE_H_
