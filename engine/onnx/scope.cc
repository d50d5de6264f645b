#include "engine/onnx/scope.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "onnx/onnx.pb.h"

namespace tensord {

Scope::Scope(const onnx::GraphProto& body, const Scope& outer,
             FreshNames& fresh)
    : function_(outer.function_), outer_(&outer), arguments_(outer.arguments_) {
  const auto define = [&](const std::string& name) {
    if (!name.empty() && !Defines(name)) Define(name, fresh.Make(name));
  };
  for (const auto& input : body.input()) define(input.name());
  for (const auto& initializer : body.initializer()) define(initializer.name());
  for (const onnx::NodeProto& node : body.node()) {
    for (const std::string& output : node.output()) define(output);
  }
}

absl::StatusOr<std::string> Scope::Resolve(absl::string_view name) const {
  if (name.empty()) return std::string();
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer_) {
    const auto it = scope->names_.find(name);
    if (it != scope->names_.end()) return it->second;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "value ", Quoted(name), " is not defined in ", function_.label));
}

absl::StatusOr<const Attribute*> Scope::Argument(absl::string_view name) const {
  const auto parameter = function_.parameters.find(name);
  if (parameter == function_.parameters.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("refers to attribute ", Quoted(name), ", which ",
                     function_.label, " does not declare"));
  }
  if (const Attribute* given = arguments_->Find(name)) return given;
  return parameter->second.has_value() ? &*parameter->second : nullptr;
}

}  // namespace tensord
