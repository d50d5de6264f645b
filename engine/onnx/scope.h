#ifndef TENSORD_ENGINE_ONNX_SCOPE_H_
#define TENSORD_ENGINE_ONNX_SCOPE_H_

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/graph/attributes.h"
#include "engine/onnx/fresh_names.h"
#include "engine/onnx/functions.h"

namespace tensord {

namespace onnx {
class GraphProto;
}

// What the names inside a function stand for while one call of it is expanded:
// its inputs and outputs for those of the call, its other values for new names,
// and its attributes for what the call gives or their defaults. A body inside
// the function has a scope of its own within that one.
//
// Nodes of the model's own graphs have no scope: their names stay.
//
// Threading: one thread. Ownership: owns names and arguments; borrows the
//   function and the scope around it.
class Scope {
 public:
  // One call. A value that the call leaves out is "", as in its node.
  Scope(const OnnxFunction& function, Attributes arguments)
      : function_(function),
        arguments_(std::make_shared<Attributes>(std::move(arguments))) {}

  // A body within `outer`: everything that it defines gets a new name.
  Scope(const onnx::GraphProto& body, const Scope& outer, FreshNames& fresh);

  const OnnxFunction& function() const { return function_; }

  bool Defines(absl::string_view name) const { return names_.contains(name); }
  void Define(absl::string_view name, std::string actual) {
    names_.try_emplace(std::string(name), std::move(actual));
  }

  // What a name stands for; "" for "". kInvalidArgument for one that neither
  // this scope nor one around it defines: a function sees no values but its
  // own.
  absl::StatusOr<std::string> Resolve(absl::string_view name) const;

  // What a reference to the function's attribute stands for; null when the call
  // leaves it out and it has no default. kInvalidArgument for one that the
  // function does not declare.
  absl::StatusOr<const Attribute*> Argument(absl::string_view name) const;

 private:
  const OnnxFunction& function_;
  const Scope* const outer_ = nullptr;
  const std::shared_ptr<const Attributes> arguments_;
  absl::flat_hash_map<std::string, std::string> names_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_ONNX_SCOPE_H_
