#include "engine/graph/node_error.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"

namespace tensord {

absl::Status AtNode(absl::string_view name, absl::string_view op,
                    const absl::Status& status) {
  if (status.ok()) return status;
  absl::Status placed(status.code(),
                      absl::StrCat("node ", Quoted(name), " (", Escape(op),
                                   "): ", status.message()));
  status.ForEachPayload(
      [&](absl::string_view type_url, const absl::Cord& payload) {
        placed.SetPayload(type_url, payload);
      });
  return placed;
}

absl::Status AtNode(const Node& node, const absl::Status& status) {
  return AtNode(node.name, OpKindName(node.op), status);
}

absl::Status UnknownOperator(absl::string_view node_name,
                             absl::string_view domain,
                             absl::string_view op_type) {
  return absl::UnimplementedError(
      absl::StrCat("node ", Quoted(node_name), ": operator ", Quoted(op_type),
                   " of domain ", Quoted(domain), " has no definition here"));
}

}  // namespace tensord
