#ifndef TENSORD_ENGINE_ONNX_FUNCTIONS_H_
#define TENSORD_ENGINE_ONNX_FUNCTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/graph/attributes.h"

namespace tensord {

namespace onnx {
class FunctionProto;
class ModelProto;
class NodeProto;
class OperatorSetIdProto;
}  // namespace onnx

// kUnimplemented for a version of ONNX's training domain that has other
// operators than those known here.
absl::Status CheckTrainingOpset(const onnx::OperatorSetIdProto& opset);

// An operator that a model defines itself, by other nodes.
struct OnnxFunction {
  onnx::FunctionProto* proto = nullptr;
  int index = 0;      // in the model
  std::string label;  // "function 'Gelu' of domain 'my'"
  int64_t opset = 0;  // of the default domain; 0 when it imports none
  // Its attributes, with their defaults where they have one.
  absl::flat_hash_map<std::string, std::optional<Attribute>> parameters;
};

// The functions of a model by what calls them: domain, name and overload. A
// function that is named like one of ONNX's own operators takes its place: the
// standard leaves that to the runtime, and who defines an operator means it.
//
// Threading: immutable once made. Ownership: borrows the model.
class FunctionLibrary {
 public:
  // Errors: kInvalidArgument for two functions of one name, for operands
  // without
  //   a name, declared twice or made by no node, and for attributes declared
  //   twice; kUnimplemented for a default that is a graph.
  static absl::StatusOr<FunctionLibrary> Create(onnx::ModelProto& model);

  absl::Span<const OnnxFunction> functions() const { return functions_; }

  // Null when no function of the model is meant.
  const OnnxFunction* Find(const onnx::NodeProto& call) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;

  std::vector<OnnxFunction> functions_;
  absl::flat_hash_map<Key, int> by_name_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_ONNX_FUNCTIONS_H_
