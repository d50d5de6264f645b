#include "engine/graph/graph_builder.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/graph/check_definition.h"
#include "engine/graph/constant_node.h"
#include "engine/graph/escape.h"
#include "engine/graph/node_error.h"
#include "engine/graph/status_macros.h"
#include "engine/graph/topological_order.h"
#include "engine/graph/value_claim.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"
#include "engine/ops/op_table.h"

namespace tensord {
namespace {

// A node of the definition on its way into the graph.
struct PendingNode {
  NodeDef* def;
  std::string name;
  OpKind op;
  std::vector<ValueId> outputs;
  std::vector<Body> bodies;
};

bool IsDefaultDomain(absl::string_view domain) {
  return domain.empty() || domain == "ai.onnx";
}

void TrimTrailingAbsent(std::vector<std::string>& names) {
  while (!names.empty() && names.back().empty()) names.pop_back();
}

class GraphBuilder {
 public:
  // `outer` is the builder of the graph around a body, null for the whole.
  GraphBuilder(GraphDef definition, const GraphLimits& limits,
               GraphBuilder* outer = nullptr)
      : definition_(std::move(definition)), limits_(limits), outer_(outer) {}

  absl::StatusOr<Graph> Build() {
    if (outer_ == nullptr) {
      TENSORD_RETURN_IF_ERROR(CheckDefinition(definition_, limits_));
      TENSORD_RETURN_IF_ERROR(CheckOpset());
    } else {
      definition_.opset = outer_->definition_.opset;
    }
    graph_.name = std::move(definition_.name);
    TENSORD_RETURN_IF_ERROR(NameNodes());
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

  // What the body took from the graph around it: ids there, in the order of the
  // last inputs of the built graph.
  std::vector<ValueId> captured_from_outer() const {
    std::vector<ValueId> ids;
    for (const Captured& captured : captured_) ids.push_back(captured.outer_id);
    return ids;
  }

 private:
  struct Captured {
    ValueId id;
    ValueId outer_id;
  };

  absl::Status CheckOpset() const {
    const int64_t opset = definition_.opset;
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

  // Every node has a name from here on, unique in the graph.
  absl::Status NameNodes() {
    absl::flat_hash_set<std::string> names;
    for (const NodeDef& node : definition_.nodes) {
      if (!node.name.empty() && !names.insert(node.name).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("two nodes are named ", Quoted(node.name)));
      }
    }
    for (size_t i = 0; i < definition_.nodes.size(); ++i) {
      NodeDef& node = definition_.nodes[i];
      if (!node.name.empty()) continue;
      const std::string name = absl::StrCat(node.op_type, "_", i);
      node.name = name;
      for (int copy = 2; !names.insert(node.name).second; ++copy) {
        node.name = absl::StrCat(name, "_", copy);
      }
    }
    return absl::OkStatus();
  }

  // The one way in for values. `what` says what defines it.
  absl::StatusOr<ValueId> Define(absl::string_view name, absl::string_view what,
                                 Value value) {
    const auto id = static_cast<ValueId>(graph_.values.size());
    if (!by_name_.try_emplace(std::string(name), id).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("value ", Quoted(name),
                       " is defined twice; the second time as ", what));
    }
    value.name = std::string(name);
    graph_.values.push_back(std::move(value));
    return id;
  }

  absl::StatusOr<ValueId> DefineConstant(absl::string_view name,
                                         absl::string_view what,
                                         HostTensor tensor) {
    if (!tensor.is_present() || BitWidth(tensor.dtype()) == 0) {
      return absl::UnimplementedError(
          absl::StrCat(what, " has dtype ", DTypeName(tensor.dtype()),
                       "; constants of it are not supported"));
    }
    Value value;
    value.type = {tensor.dtype(), ToSymbolic(tensor.shape())};
    TENSORD_RETURN_IF_ERROR(CheckTensorSize(what, *value.type.shape, limits_));
    value.constant = std::move(tensor);
    return Define(name, what, std::move(value));
  }

  absl::Status AddInitializers() {
    for (InitializerDef& initializer : definition_.initializers) {
      TENSORD_RETURN_IF_ERROR(
          DefineConstant(initializer.name,
                         absl::StrCat("initializer ", Quoted(initializer.name)),
                         std::move(initializer.tensor))
              .status());
    }
    return absl::OkStatus();
  }

  Dim ReadDim(const DimDef& def) {
    if (const auto* extent = std::get_if<int64_t>(&def)) {
      return Dim::Known(*extent);
    }
    const auto* symbol = std::get_if<std::string>(&def);
    return symbol == nullptr || symbol->empty() ? graph_.symbols.Unnamed()
                                                : graph_.symbols.Named(*symbol);
  }

  absl::StatusOr<SymbolicShape> ReadDims(absl::string_view what,
                                         const ValueDef& def) {
    SymbolicShape shape;
    for (const DimDef& dim : *def.dims) shape.push_back(ReadDim(dim));
    TENSORD_RETURN_IF_ERROR(CheckTensorSize(what, shape, limits_));
    for (size_t i = 0; i < def.max_extents.size() && i < shape.size(); ++i) {
      const int64_t bound = def.max_extents[i];
      if (bound == SymbolTable::kUnbounded || shape[i].is_known()) continue;
      if (bound < 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            what, ": dimension ", i, " is at most ", bound, ", below 0"));
      }
      graph_.symbols.LimitTo(shape[i], bound);
    }
    return shape;
  }

  absl::StatusOr<TensorType> ReadType(absl::string_view what,
                                      const ValueDef& def) {
    TensorType type;
    type.dtype = def.dtype;
    if (def.dims.has_value()) {
      TENSORD_ASSIGN_OR_RETURN(type.shape, ReadDims(what, def));
    }
    return type;
  }

  absl::Status AddInputs() {
    absl::flat_hash_set<absl::string_view> declared;
    for (const ValueDef& input : definition_.inputs) {
      const std::string what = absl::StrCat("input ", Quoted(input.name));
      if (!declared.insert(input.name).second) {
        return absl::InvalidArgumentError(
            absl::StrCat(what, " is declared twice"));
      }
      TENSORD_ASSIGN_OR_RETURN(TensorType type, ReadType(what, input));
      // Before IR version 4 every initializer was an input as well. Since then
      // it is the input's default, which nothing here overrides.
      if (const auto it = by_name_.find(input.name); it != by_name_.end()) {
        TENSORD_RETURN_IF_ERROR(CheckClaim(
            what, type, graph_.values[it->second].type, graph_.symbols));
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
      TENSORD_ASSIGN_OR_RETURN(const ValueId id,
                               Define(input.name, what, std::move(value)));
      graph_.inputs.push_back(id);
    }
    return absl::OkStatus();
  }

  // Defines what the nodes make, so that the order of the nodes does not matter
  // when their inputs are resolved. Constant nodes end here.
  absl::Status AddNodeOutputs() {
    for (NodeDef& def : definition_.nodes) {
      TrimTrailingAbsent(def.inputs);
      TrimTrailingAbsent(def.outputs);
      const std::optional<OpKind> op = IsDefaultDomain(def.domain)
                                           ? OpKindFromName(def.op_type)
                                           : std::nullopt;
      if (!op.has_value() ||
          (*op != OpKind::kConstant && FindOpDef(*op) == nullptr)) {
        return UnknownOperator(def.name, def.domain, def.op_type);
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
            Define(def.outputs[i],
                   absl::StrCat("output ", i, " of node ", Quoted(node.name)),
                   Value()));
        producer_of_[id] = static_cast<int32_t>(pending_.size());
        node.outputs.push_back(id);
      }
      pending_.push_back(std::move(node));
    }
    return absl::OkStatus();
  }

  absl::Status AddConstantNode(const NodeDef& def) {
    if (!def.inputs.empty() || def.outputs.size() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(def.inputs.size(), " inputs and ", def.outputs.size(),
                       " outputs, where a Constant has 0 and 1"));
    }
    TENSORD_ASSIGN_OR_RETURN(HostTensor tensor,
                             ConstantNodeValue(def.attributes));
    return DefineConstant(def.outputs[0],
                          absl::StrCat("output of node ", Quoted(def.name)),
                          std::move(tensor))
        .status();
  }

  // The value of that name here or, for a body, around it.
  absl::StatusOr<ValueId> Resolve(absl::string_view name) {
    const auto it = by_name_.find(name);
    if (it != by_name_.end()) return it->second;
    if (outer_ != nullptr) return Capture(name);
    return absl::InvalidArgumentError(
        absl::StrCat("value ", Quoted(name),
                     " is not defined by any input, initializer or node"));
  }

  absl::StatusOr<ValueId> Capture(absl::string_view name) {
    TENSORD_ASSIGN_OR_RETURN(const ValueId outer_id, outer_->Resolve(name));
    const Value& outer = outer_->graph_.values[outer_id];
    const std::string what = absl::StrCat("captured value ", Quoted(name));
    if (outer.constant.is_present()) {
      return DefineConstant(name, what, outer.constant);
    }
    Value value;
    value.is_input = true;
    value.type.dtype = outer.is_input ? outer.type.dtype : DType::kUndefined;
    TENSORD_ASSIGN_OR_RETURN(const ValueId id,
                             Define(name, what, std::move(value)));
    captured_.push_back({id, outer_id});
    return id;
  }

  // The bodies in a node's attributes, with what they capture behind the node's
  // own inputs.
  absl::Status AddBodies(PendingNode& node, std::vector<ValueId>& inputs) {
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
      GraphBuilder builder(**body, limits_, this);
      TENSORD_ASSIGN_OR_RETURN(Graph graph, builder.Build());
      const std::vector<ValueId> captured = builder.captured_from_outer();
      inputs.insert(inputs.end(), captured.begin(), captured.end());
      node.bodies.push_back({std::make_shared<const Graph>(std::move(graph)),
                             static_cast<int>(captured.size())});
    }
    return absl::OkStatus();
  }

  absl::Status AddNodes() {
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

  absl::Status AddNode(PendingNode pending, std::vector<ValueId> inputs) {
    const OpDef& op_def = *FindOpDef(pending.op);
    const size_t own_input_count = pending.def->inputs.size();
    TENSORD_RETURN_IF_ERROR(
        CheckOperandCounts(op_def, inputs, own_input_count, pending.outputs));
    Node node{.name = std::move(pending.name),
              .op = pending.op,
              .params = NoParams(),
              .inputs = std::move(inputs),
              .outputs = std::move(pending.outputs),
              .bodies = std::move(pending.bodies),
              .own_input_count = static_cast<int>(own_input_count)};

    const Attributes& attributes = pending.def->attributes;
    NodeReader reader(attributes, definition_.opset,
                      static_cast<int>(own_input_count),
                      static_cast<int>(node.outputs.size()));
    for (const char* name : op_def.body_attributes) {
      if (name != nullptr) reader.Ignore(name);
    }
    if (op_def.read != nullptr) {
      TENSORD_ASSIGN_OR_RETURN(node.params, op_def.read(reader));
    }
    if (const std::vector<std::string> unread = reader.UnreadAttributes();
        !unread.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown attribute ", Quoted(unread.front()),
                       " in operator set ", definition_.opset,
                       unread.size() > 1
                           ? absl::StrCat(" (and ", unread.size() - 1, " more)")
                           : ""));
    }
    for (const auto& [index, tensor] : reader.constant_inputs()) {
      TENSORD_RETURN_IF_ERROR(AddConstantInput(node, index, tensor));
    }
    const auto id = static_cast<NodeId>(graph_.nodes.size());
    for (ValueId output : node.outputs) {
      if (output != kNoValue) graph_.values[output].producer = id;
    }
    graph_.nodes.push_back(std::move(node));
    return absl::OkStatus();
  }

  static absl::Status CheckOperandCounts(const OpDef& op_def,
                                         const std::vector<ValueId>& inputs,
                                         size_t own_input_count,
                                         const std::vector<ValueId>& outputs) {
    const auto check = [](absl::string_view noun, size_t count, int low,
                          int high) {
      const auto number = static_cast<int64_t>(count);
      if (number >= low && number <= high) return absl::OkStatus();
      const std::string range = high >= OpDef::kVariadic
                                    ? absl::StrCat("at least ", low)
                                : low == high ? absl::StrCat(low)
                                              : absl::StrCat(low, " to ", high);
      return absl::InvalidArgumentError(
          absl::StrCat(count, " ", noun, ", where the operator has ", range));
    };
    TENSORD_RETURN_IF_ERROR(
        check("inputs", own_input_count, op_def.min_inputs, op_def.max_inputs));
    // Where any number may be given, each that is has to be there; Loop and its
    // like look at theirs themselves.
    const bool takes_any_number =
        op_def.max_inputs >= OpDef::kVariadic && !op_def.is_flow;
    const int required = takes_any_number ? static_cast<int>(own_input_count)
                                          : op_def.min_inputs;
    for (int i = 0; i < required; ++i) {
      if (inputs[i] == kNoValue) {
        return absl::InvalidArgumentError(
            absl::StrCat("input ", i, " is required and absent"));
      }
    }
    return check("outputs", outputs.size(), op_def.min_outputs,
                 op_def.max_outputs);
  }

  // What older operator sets had as an attribute.
  absl::Status AddConstantInput(Node& node, int index,
                                const HostTensor& tensor) {
    std::string name = absl::StrCat(node.name, ":input", index);
    while (by_name_.contains(name)) name += "'";
    TENSORD_ASSIGN_OR_RETURN(
        const ValueId id,
        DefineConstant(name, absl::StrCat("input ", index), tensor));
    if (index >= static_cast<int>(node.inputs.size())) {
      node.inputs.resize(index + 1, kNoValue);
    }
    node.inputs[index] = id;
    return absl::OkStatus();
  }

  absl::Status AddOutputs() {
    if (definition_.outputs.empty()) {
      return absl::InvalidArgumentError("graph has 0 outputs; it needs 1");
    }
    absl::flat_hash_set<absl::string_view> returned;
    for (const ValueDef& output : definition_.outputs) {
      const std::string what = absl::StrCat("output ", Quoted(output.name));
      // A body may give one value twice: carried on, and collected.
      if (!returned.insert(output.name).second && outer_ == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat(what, " is listed twice"));
      }
      const absl::StatusOr<ValueId> id = Resolve(output.name);
      if (!id.ok()) return AtValue("output", output.name, id.status());
      TENSORD_ASSIGN_OR_RETURN(TensorType claim, ReadType(what, output));
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

  GraphDef definition_;
  const GraphLimits& limits_;
  GraphBuilder* const outer_;
  std::vector<Captured> captured_;
  Graph graph_;
  absl::flat_hash_map<std::string, ValueId> by_name_;
  std::vector<PendingNode> pending_;
  absl::flat_hash_map<ValueId, int32_t> producer_of_;  // index into pending_
};

}  // namespace

absl::StatusOr<Graph> BuildGraph(GraphDef definition,
                                 const GraphLimits& limits) {
  absl::StatusOr<Graph> graph =
      GraphBuilder(std::move(definition), limits).Build();
  if (!graph.ok()) return AtGraph(graph.status());
  return graph;
}

}  // namespace tensord
