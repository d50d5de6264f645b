#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/constant_node.h"
#include "engine/graph/escape.h"
#include "engine/graph/graph_assembler.h"
#include "engine/graph/node_builder.h"
#include "engine/graph/node_error.h"
#include "engine/graph/status_macros.h"
#include "engine/graph/topological_order.h"
#include "engine/ops/op_def.h"
#include "engine/ops/op_table.h"

// How the nodes of a definition, and the bodies in their attributes, become
// those of a graph.

namespace tensord {
namespace {

void TrimTrailingAbsent(std::vector<std::string>& names) {
  while (!names.empty() && names.back().empty()) names.pop_back();
}

bool IsOfDomain(OpKind op, absl::string_view domain) {
  const absl::string_view home = OpKindDomain(op);
  return home.empty() ? IsDefaultDomain(domain) : domain == home;
}

}  // namespace

absl::Status GraphAssembler::AddNodeOutputs() {
  for (NodeDef& def : definition_.nodes) {
    TrimTrailingAbsent(def.inputs);
    const std::optional<OpKind> op = OpKindFromName(def.op_type);
    if (!op.has_value() || !IsOfDomain(*op, def.domain) ||
        (*op != OpKind::kConstant && FindOpDef(*op) == nullptr)) {
      return UnknownOperator(def.name, def.domain, def.op_type);
    }
    // How many outputs Split has says into how many parts.
    if (*op == OpKind::kConstant ||
        FindOpDef(*op)->max_outputs != OpDef::kVariadic) {
      TrimTrailingAbsent(def.outputs);
    }
    if (*op == OpKind::kConstant) {
      TENSORD_RETURN_IF_ERROR(
          AtNode(def.name, def.op_type, AddConstantNode(def)));
      continue;
    }
    PendingNode node{&def, std::move(def.name), *op, {}, {}};
    for (size_t i = 0; i < def.outputs.size(); ++i) {
      if (def.outputs[i].empty()) {
        node.outputs.push_back(kNoValue);
        continue;
      }
      TENSORD_ASSIGN_OR_RETURN(
          const ValueId id,
          values_.Define(
              def.outputs[i],
              absl::StrCat("output ", i, " of node ", Quoted(node.name)),
              Value()));
      producer_of_[id] = static_cast<int32_t>(pending_.size());
      node.outputs.push_back(id);
    }
    pending_.push_back(std::move(node));
  }
  return absl::OkStatus();
}

absl::Status GraphAssembler::AddConstantNode(const NodeDef& def) {
  if (!def.inputs.empty() || def.outputs.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(def.inputs.size(), " inputs and ", def.outputs.size(),
                     " outputs, where a Constant has 0 and 1"));
  }
  TENSORD_ASSIGN_OR_RETURN(HostTensor tensor,
                           ConstantNodeValue(def.attributes));
  return values_
      .DefineConstant(def.outputs[0],
                      absl::StrCat("output of node ", Quoted(def.name)),
                      std::move(tensor))
      .status();
}

absl::StatusOr<ValueId> GraphAssembler::Resolve(absl::string_view name) {
  if (const std::optional<ValueId> id = values_.Find(name)) return *id;
  if (outer_ != nullptr) return Capture(name);
  return absl::InvalidArgumentError(
      absl::StrCat("value ", Quoted(name),
                   " is not defined by any input, initializer or node"));
}

absl::StatusOr<ValueId> GraphAssembler::Capture(absl::string_view name) {
  TENSORD_ASSIGN_OR_RETURN(const ValueId outer_id, outer_->Resolve(name));
  GraphAssembler* whole = outer_;
  while (whole->outer_ != nullptr) whole = whole->outer_;
  if (++whole->captured_count_ > limits_.max_values) {
    return LimitExceeded("graph", whole->captured_count_,
                         "values that nested graphs capture", "max_values",
                         limits_.max_values);
  }
  const Value& outer = outer_->graph_.values[outer_id];
  const std::string what = absl::StrCat("captured value ", Quoted(name));
  if (outer.constant.is_present()) {
    return values_.DefineConstant(name, what, outer.constant);
  }
  Value value;
  value.is_input = true;
  value.type.dtype = outer.is_input ? outer.type.dtype : DType::kUndefined;
  TENSORD_ASSIGN_OR_RETURN(const ValueId id,
                           values_.Define(name, what, std::move(value)));
  captured_.push_back({id, outer_id});
  return id;
}

absl::Status GraphAssembler::AddBodies(PendingNode& node,
                                       std::vector<ValueId>& inputs) {
  for (const char* name : FindOpDef(node.op)->body_attributes) {
    if (name == nullptr) break;
    const Attribute* attribute = node.def->attributes.Find(name);
    const auto* body =
        attribute == nullptr
            ? nullptr
            : std::get_if<std::shared_ptr<const GraphDef>>(attribute);
    if (body == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute '", name, "' is ",
                       attribute == nullptr ? absl::string_view("missing")
                                            : AttributeTypeName(*attribute),
                       ", where a graph is needed"));
    }
    GraphAssembler builder(**body, limits_, this);
    TENSORD_ASSIGN_OR_RETURN(Graph graph, builder.Build());
    const std::vector<ValueId> captured = builder.captured_from_outer();
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    node.bodies.push_back({std::make_shared<const Graph>(std::move(graph)),
                           static_cast<int>(captured.size())});
  }
  return absl::OkStatus();
}

absl::Status GraphAssembler::AddNodes() {
  std::vector<std::vector<ValueId>> inputs(pending_.size());
  std::vector<std::vector<int32_t>> producers(pending_.size());
  for (size_t i = 0; i < pending_.size(); ++i) {
    PendingNode& node = pending_[i];
    for (size_t k = 0; k < node.def->inputs.size(); ++k) {
      const std::string& name = node.def->inputs[k];
      absl::StatusOr<ValueId> id = kNoValue;
      if (!name.empty()) id = Resolve(name);
      if (!id.ok()) {
        return AtNode(node.name, OpKindName(node.op), id.status());
      }
      inputs[i].push_back(*id);
    }
    TENSORD_RETURN_IF_ERROR(
        AtNode(node.name, OpKindName(node.op), AddBodies(node, inputs[i])));
    for (ValueId id : inputs[i]) {
      const auto producer = producer_of_.find(id);
      if (producer != producer_of_.end()) {
        producers[i].push_back(producer->second);
      }
    }
  }

  const TopologicalOrder sorted = SortNodes(producers);
  if (sorted.node_on_cycle >= 0) {
    const PendingNode& node = pending_[sorted.node_on_cycle];
    return AtNode(node.name, OpKindName(node.op),
                  absl::InvalidArgumentError(
                      "its inputs depend on its own outputs: the node is on "
                      "a cycle"));
  }
  graph_.nodes.reserve(pending_.size());
  for (int32_t index : sorted.order) {
    PendingNode& node = pending_[index];
    const OpKind op = node.op;
    const std::string name = node.name;
    TENSORD_RETURN_IF_ERROR(
        AtNode(name, OpKindName(op),
               AddNode(std::move(node), std::move(inputs[index]))));
  }
  return absl::OkStatus();
}

absl::Status GraphAssembler::AddNode(PendingNode pending,
                                     std::vector<ValueId> inputs) {
  TENSORD_ASSIGN_OR_RETURN(const int64_t opset, OpsetOf(*pending.def));
  TENSORD_ASSIGN_OR_RETURN(
      BuiltNode built,
      BuildNode(
          Node{.name = std::move(pending.name),
               .op = pending.op,
               .params = NoParams(),
               .inputs = std::move(inputs),
               .outputs = std::move(pending.outputs),
               .bodies = std::move(pending.bodies),
               .own_input_count = static_cast<int>(pending.def->inputs.size())},
          pending.def->attributes, opset));
  Node& node = built.node;
  for (const auto& [index, tensor] : built.constant_inputs) {
    TENSORD_RETURN_IF_ERROR(AddConstantInput(node, index, tensor));
  }
  TENSORD_RETURN_IF_ERROR(AddUnreadOutputs(node));
  const auto id = static_cast<NodeId>(graph_.nodes.size());
  for (ValueId output : node.outputs) graph_.values[output].producer = id;
  graph_.nodes.push_back(std::move(node));
  return absl::OkStatus();
}

absl::Status GraphAssembler::AddUnreadOutputs(Node& node) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) continue;
    const std::string what = absl::StrCat("output ", i);
    TENSORD_ASSIGN_OR_RETURN(node.outputs[i],
                             values_.Define(values_.UnusedName(absl::StrCat(
                                                node.name, ":output", i)),
                                            what, Value()));
  }
  return absl::OkStatus();
}

absl::Status GraphAssembler::AddConstantInput(Node& node, int index,
                                              const HostTensor& tensor) {
  TENSORD_ASSIGN_OR_RETURN(
      const ValueId id,
      values_.DefineConstant(
          values_.UnusedName(absl::StrCat(node.name, ":input", index)),
          absl::StrCat("input ", index), tensor));
  if (index >= static_cast<int>(node.inputs.size())) {
    node.inputs.resize(index + 1, kNoValue);
  }
  node.inputs[index] = id;
  return absl::OkStatus();
}

}  // namespace tensord
