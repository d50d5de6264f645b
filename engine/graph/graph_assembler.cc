#include "engine/graph/graph_assembler.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/check_definition.h"
#include "engine/graph/escape.h"
#include "engine/graph/graph_builder.h"
#include "engine/graph/node_builder.h"
#include "engine/graph/node_error.h"
#include "engine/graph/status_macros.h"
#include "engine/graph/value_claim.h"

namespace tensord {
namespace {

absl::Status CheckOpset(int64_t opset) {
  if (opset <= 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "operator set version ", opset, "; a graph must name one from 1 on"));
  }
  if (opset < kMinOpset || opset > kMaxOpset) {
    return absl::UnimplementedError(absl::StrCat(
        "operator set version ", opset, " is outside those supported, ",
        kMinOpset, " to ", kMaxOpset));
  }
  return absl::OkStatus();
}

}  // namespace

GraphAssembler::GraphAssembler(GraphDef definition, const GraphLimits& limits,
                               GraphAssembler* outer)
    : definition_(std::move(definition)),
      limits_(limits),
      outer_(outer),
      values_(graph_, limits) {}

absl::StatusOr<Graph> GraphAssembler::Build() {
  if (outer_ == nullptr) {
    TENSORD_RETURN_IF_ERROR(CheckDefinition(definition_, limits_));
    TENSORD_RETURN_IF_ERROR(CheckOpset(definition_.opset));
  } else {
    definition_.opset = outer_->definition_.opset;
  }
  graph_.name = std::move(definition_.name);
  TENSORD_RETURN_IF_ERROR(NameNodes(definition_.nodes));
  TENSORD_RETURN_IF_ERROR(AddInitializers());
  TENSORD_RETURN_IF_ERROR(AddInputs());
  TENSORD_RETURN_IF_ERROR(AddNodeOutputs());
  TENSORD_RETURN_IF_ERROR(AddNodes());
  TENSORD_RETURN_IF_ERROR(AddOutputs());
  for (const Captured& captured : captured_) {
    graph_.inputs.push_back(captured.id);
  }
  const uint64_t constant_bytes = graph_.constant_bytes();
  if (constant_bytes > static_cast<uint64_t>(limits_.max_constant_bytes)) {
    return LimitExceeded("graph", static_cast<int64_t>(constant_bytes),
                         "bytes of constants", "max_constant_bytes",
                         limits_.max_constant_bytes);
  }
  return std::move(graph_);
}

std::vector<ValueId> GraphAssembler::captured_from_outer() const {
  std::vector<ValueId> ids;
  for (const Captured& captured : captured_) ids.push_back(captured.outer_id);
  return ids;
}

absl::StatusOr<int64_t> GraphAssembler::OpsetOf(const NodeDef& def) const {
  if (def.opset == 0) return definition_.opset;
  TENSORD_RETURN_IF_ERROR(CheckOpset(def.opset));
  return def.opset;
}

absl::Status GraphAssembler::AddInitializers() {
  for (InitializerDef& initializer : definition_.initializers) {
    TENSORD_RETURN_IF_ERROR(
        values_
            .DefineConstant(
                initializer.name,
                absl::StrCat("initializer ", Quoted(initializer.name)),
                std::move(initializer.tensor))
            .status());
  }
  return absl::OkStatus();
}

absl::Status GraphAssembler::AddInputs() {
  absl::flat_hash_set<absl::string_view> declared;
  for (const ValueDef& input : definition_.inputs) {
    const std::string what = absl::StrCat("input ", Quoted(input.name));
    if (!declared.insert(input.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, " is declared twice"));
    }
    TENSORD_ASSIGN_OR_RETURN(TensorType type, values_.ReadType(what, input));
    // Before IR version 4 every initializer was an input as well. Since then
    // it is the input's default, which nothing here overrides.
    if (const std::optional<ValueId> id = values_.Find(input.name)) {
      TENSORD_RETURN_IF_ERROR(
          CheckClaim(what, type, graph_.values[*id].type, graph_.symbols));
      continue;
    }
    // What a body is given has the types of what it is called with.
    const bool is_untyped = type.dtype == DType::kUndefined;
    if (is_untyped && outer_ == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(what, " has no dtype"));
    }
    if (!is_untyped && BitWidth(type.dtype) == 0) {
      return absl::UnimplementedError(
          absl::StrCat(what, " has dtype ", DTypeName(type.dtype),
                       "; tensors of it are not supported"));
    }
    Value value;
    value.type = std::move(type);
    value.is_input = true;
    TENSORD_ASSIGN_OR_RETURN(
        const ValueId id, values_.Define(input.name, what, std::move(value)));
    graph_.inputs.push_back(id);
  }
  return absl::OkStatus();
}

absl::Status GraphAssembler::AddOutputs() {
  if (definition_.outputs.empty()) {
    return absl::InvalidArgumentError("graph has 0 outputs; it needs 1");
  }
  absl::flat_hash_set<absl::string_view> returned;
  for (const ValueDef& output : definition_.outputs) {
    const std::string what = absl::StrCat("output ", Quoted(output.name));
    // A body may give one value twice: carried on, and collected.
    if (!returned.insert(output.name).second && outer_ == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(what, " is listed twice"));
    }
    const absl::StatusOr<ValueId> id = Resolve(output.name);
    if (!id.ok()) return AtValue("output", output.name, id.status());
    TENSORD_ASSIGN_OR_RETURN(TensorType claim, values_.ReadType(what, output));
    Value& value = graph_.values[*id];
    if (value.producer == kNoNode) {
      TENSORD_RETURN_IF_ERROR(
          CheckClaim(what, claim, value.type, graph_.symbols));
    } else {
      value.type = std::move(claim);
    }
    graph_.outputs.push_back(*id);
  }
  return absl::OkStatus();
}

}  // namespace tensord
