#include "engine/graph/node_builder.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"
#include "engine/ops/op_table.h"
#include "engine/ops/required_inputs.h"

namespace tensord {
namespace {

absl::Status CheckCount(absl::string_view noun, size_t count, int low,
                        int high) {
  const auto number = static_cast<int64_t>(count);
  if (number >= low && number <= high) return absl::OkStatus();
  const std::string range = high >= OpDef::kVariadic
                                ? absl::StrCat("at least ", low)
                            : low == high ? absl::StrCat(low)
                                          : absl::StrCat(low, " to ", high);
  return absl::InvalidArgumentError(
      absl::StrCat(count, " ", noun, ", where the operator has ", range));
}

absl::Status CheckCounts(const OpDef& op_def, const Node& node) {
  TENSORD_RETURN_IF_ERROR(CheckCount("inputs",
                                     static_cast<size_t>(node.own_input_count),
                                     op_def.min_inputs, op_def.max_inputs));
  return CheckCount("outputs", node.outputs.size(), op_def.min_outputs,
                    op_def.max_outputs);
}

}  // namespace

absl::StatusOr<BuiltNode> BuildNode(Node node, const Attributes& attributes,
                                    int64_t opset) {
  const OpDef& op_def = *FindOpDef(node.op);
  TENSORD_RETURN_IF_ERROR(CheckCounts(op_def, node));
  NodeReader reader(attributes, opset, node.own_input_count,
                    static_cast<int>(node.outputs.size()));
  for (const char* name : op_def.body_attributes) {
    if (name != nullptr) reader.Ignore(name);
  }
  if (op_def.read != nullptr) {
    TENSORD_ASSIGN_OR_RETURN(node.params, op_def.read(reader));
  }
  if (const std::vector<std::string> unread = reader.UnreadAttributes();
      !unread.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "unknown attribute ", Quoted(unread.front()), " in operator set ",
        opset,
        unread.size() > 1 ? absl::StrCat(" (and ", unread.size() - 1, " more)")
                          : ""));
  }
  const auto constants = reader.constant_inputs();
  // Read added them behind those that the client gave.
  int input_count = node.own_input_count;
  for (const auto& constant : constants) {
    input_count = std::max(input_count, constant.first + 1);
  }
  TENSORD_RETURN_IF_ERROR(CheckRequiredInputs(op_def, input_count, [&](int i) {
    if (i < node.own_input_count) return node.inputs[i] != kNoValue;
    return std::any_of(
        constants.begin(), constants.end(),
        [i](const auto& constant) { return constant.first == i; });
  }));
  return BuiltNode{std::move(node), {constants.begin(), constants.end()}};
}

absl::Status NameNodes(std::vector<NodeDef>& nodes) {
  absl::flat_hash_set<std::string> names;
  for (const NodeDef& node : nodes) {
    if (!node.name.empty() && !names.insert(node.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two nodes are named ", Quoted(node.name)));
    }
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    NodeDef& node = nodes[i];
    if (!node.name.empty()) continue;
    const std::string name = absl::StrCat(node.op_type, "_", i);
    node.name = name;
    for (int copy = 2; !names.insert(node.name).second; ++copy) {
      node.name = absl::StrCat(name, "_", copy);
    }
  }
  return absl::OkStatus();
}

}  // namespace tensord
