#ifndef TENSORD_ENGINE_ONNX_FRESH_NAMES_H_
#define TENSORD_ENGINE_ONNX_FRESH_NAMES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace tensord {

namespace onnx {
class GraphProto;
}

// Names for values that a model does not name: no two alike, none that the
// model has, and short however often they are derived from each other.
//
//   "fn0.17/hidden"   the 18th name, made from "hidden"; no name of the model
//                     begins with "fn0."
//
// Threading: one thread. Ownership: borrows the graph until the first name is
//   made.
class FreshNames {
 public:
  explicit FreshNames(const onnx::GraphProto& graph) : graph_(graph) {}

  std::string Make(absl::string_view from);

 private:
  const onnx::GraphProto& graph_;
  std::string prefix_;  // empty until the graph was looked at
  int64_t next_ = 0;
};

// `name` as the last part of a path of nodes, with "..." for the beginning of a
// long one. Either may be empty.
std::string JoinPath(absl::string_view path, absl::string_view name);

}  // namespace tensord

#endif  // TENSORD_ENGINE_ONNX_FRESH_NAMES_H_
