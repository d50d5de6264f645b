#include "engine/graph/check_definition.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"

namespace tensord {
namespace {

// Walks a graph and those in its attributes.
class DefinitionChecker {
 public:
  explicit DefinitionChecker(const GraphLimits& limits) : limits_(limits) {}

  absl::Status Check(const GraphDef& definition) {
    std::vector<Open> open = {{&definition, 0}};
    while (!open.empty()) {
      const Open next = open.back();
      open.pop_back();
      if (next.depth > limits_.max_nesting_depth) {
        return LimitExceeded("graph", next.depth, "levels of nested graphs",
                             "max_nesting_depth", limits_.max_nesting_depth);
      }
      TENSORD_RETURN_IF_ERROR(CheckGraph(*next.graph));
      for (const NodeDef& node : next.graph->nodes) {
        TENSORD_RETURN_IF_ERROR(CheckNode(node));
        for (absl::string_view name : node.attributes.Names()) {
          const auto* nested = std::get_if<std::shared_ptr<const GraphDef>>(
              node.attributes.Find(name));
          if (nested != nullptr && *nested != nullptr) {
            open.push_back({nested->get(), next.depth + 1});
          }
        }
      }
    }
    return absl::OkStatus();
  }

 private:
  struct Open {
    const GraphDef* graph;
    int64_t depth;
  };

  absl::Status Count(int64_t& count, int64_t added, absl::string_view unit,
                     absl::string_view limit_name, int64_t limit) {
    count += added;
    if (count <= limit) return absl::OkStatus();
    return LimitExceeded("graph", count, unit, limit_name, limit);
  }
  absl::Status CountValues(int64_t added) {
    return Count(value_count_, added, "values", "max_values",
                 limits_.max_values);
  }

  // Short and all printable ASCII, as nearly every name is: not worth the noun
  // that a message would need.
  bool IsPlain(absl::string_view name) const {
    return static_cast<int64_t>(name.size()) <= limits_.max_name_bytes &&
           std::all_of(name.begin(), name.end(),
                       [](char c) { return c >= 0x20 && c < 0x7f; });
  }

  absl::Status CheckName(absl::string_view what, absl::string_view name) {
    const auto size = static_cast<int64_t>(name.size());
    if (size > limits_.max_name_bytes) {
      return LimitExceeded(absl::StrCat(what, " ", Quoted(name)), size, "bytes",
                           "max_name_bytes", limits_.max_name_bytes);
    }
    return CheckPrintable(what, name);
  }
  absl::Status CheckValueName(absl::string_view what, absl::string_view name) {
    if (name.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(what, " has no name"));
    }
    return CheckName(absl::StrCat("name of ", what), name);
  }

  absl::Status CheckGraph(const GraphDef& graph) {
    TENSORD_RETURN_IF_ERROR(CheckName("graph name", graph.name));
    TENSORD_RETURN_IF_ERROR(Count(node_count_, graph.nodes.size(), "nodes",
                                  "max_nodes", limits_.max_nodes));
    TENSORD_RETURN_IF_ERROR(
        CountValues(graph.inputs.size() + graph.initializers.size()));
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      TENSORD_RETURN_IF_ERROR(CheckValueDef("input", i, graph.inputs[i]));
    }
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      TENSORD_RETURN_IF_ERROR(CheckValueDef("output", i, graph.outputs[i]));
    }
    for (size_t i = 0; i < graph.initializers.size(); ++i) {
      TENSORD_RETURN_IF_ERROR(CheckValueName(absl::StrCat("initializer ", i),
                                             graph.initializers[i].name));
    }
    return absl::OkStatus();
  }

  absl::Status CheckValueDef(absl::string_view what, size_t index,
                             const ValueDef& value) {
    TENSORD_RETURN_IF_ERROR(
        CheckValueName(absl::StrCat(what, " ", index), value.name));
    if (!value.dims.has_value()) return absl::OkStatus();
    const std::string place = absl::StrCat(what, " ", Quoted(value.name));
    const auto rank = static_cast<int64_t>(value.dims->size());
    if (rank > limits_.max_rank) {
      return LimitExceeded(place, rank, "dimensions", "max_rank",
                           limits_.max_rank);
    }
    for (const DimDef& dim : *value.dims) {
      if (const auto* symbol = std::get_if<std::string>(&dim)) {
        TENSORD_RETURN_IF_ERROR(
            CheckName(absl::StrCat("dimension name of ", place), *symbol));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckNode(const NodeDef& node) {
    TENSORD_RETURN_IF_ERROR(CheckName("node name", node.name));
    TENSORD_RETURN_IF_ERROR(CheckName("operator name", node.op_type));
    TENSORD_RETURN_IF_ERROR(CheckName("domain name", node.domain));
    TENSORD_RETURN_IF_ERROR(CountValues(node.outputs.size()));
    TENSORD_RETURN_IF_ERROR(Count(operand_count_, node.inputs.size(),
                                  "operands", "max_operands",
                                  limits_.max_operands));
    const std::string place = absl::StrCat("node ", Quoted(node.name));
    for (const std::string& input : node.inputs) {
      if (IsPlain(input)) continue;
      TENSORD_RETURN_IF_ERROR(
          CheckName(absl::StrCat("input name of ", place), input));
    }
    for (const std::string& output : node.outputs) {
      if (IsPlain(output)) continue;
      TENSORD_RETURN_IF_ERROR(
          CheckName(absl::StrCat("output name of ", place), output));
    }
    if (node.attributes.size() > limits_.max_attributes) {
      return LimitExceeded(place, node.attributes.size(), "attributes",
                           "max_attributes", limits_.max_attributes);
    }
    for (absl::string_view name : node.attributes.Names()) {
      if (IsPlain(name)) continue;
      TENSORD_RETURN_IF_ERROR(
          CheckName(absl::StrCat("attribute name of ", place), name));
    }
    return absl::OkStatus();
  }

  const GraphLimits& limits_;
  int64_t node_count_ = 0;
  int64_t value_count_ = 0;
  int64_t operand_count_ = 0;
};

}  // namespace

absl::Status CheckDefinition(const GraphDef& definition,
                             const GraphLimits& limits) {
  return DefinitionChecker(limits).Check(definition);
}

absl::Status CheckTensorSize(absl::string_view what, const SymbolicShape& shape,
                             const GraphLimits& limits) {
  const auto rank = static_cast<int64_t>(shape.size());
  if (rank > limits.max_rank) {
    return LimitExceeded(what, rank, "dimensions", "max_rank", limits.max_rank);
  }
  Dims extents;
  for (Dim dim : shape) {
    extents.push_back(dim.is_known() ? dim.extent() : 1);
  }
  const absl::StatusOr<Shape> least = Shape::Create(extents);
  if (!least.ok()) {
    return absl::Status(least.status().code(),
                        absl::StrCat(what, ": ", least.status().message()));
  }
  if (least->element_count() > limits.max_elements) {
    return LimitExceeded(absl::StrCat(what, " of shape ", least->ToString()),
                         least->element_count(), "elements", "max_elements",
                         limits.max_elements);
  }
  return absl::OkStatus();
}

}  // namespace tensord
