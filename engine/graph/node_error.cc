#include "engine/graph/node_error.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "engine/compiled/no_backend_for_op.h"
#include "engine/graph/escape.h"
#include "engine/graph/invalid_graph.h"

namespace tensord {
namespace {

absl::Status Prefixed(const absl::Status& status, absl::string_view prefix) {
  absl::Status prefixed(status.code(),
                        absl::StrCat(prefix, ": ", status.message()));
  status.ForEachPayload(
      [&](absl::string_view type_url, const absl::Cord& payload) {
        prefixed.SetPayload(type_url, payload);
      });
  return prefixed;
}

}  // namespace

absl::Status AtNode(absl::string_view name, absl::string_view op,
                    const absl::Status& status) {
  if (status.ok()) return status;
  InvalidGraphDetails details = InvalidGraphDetails::Of(status);
  details.node = Escape(name);
  details.op = Escape(op);
  return details.AddTo(Prefixed(
      status, absl::StrCat("node ", Quoted(name), " (", Escape(op), ")")));
}

absl::Status AtNode(const Node& node, const absl::Status& status) {
  return AtNode(node.name, OpKindName(node.op), status);
}

absl::Status AtValue(absl::string_view noun, absl::string_view name,
                     const absl::Status& status) {
  if (status.ok()) return status;
  InvalidGraphDetails details = InvalidGraphDetails::Of(status);
  details.value = Escape(name);
  return details.AddTo(Prefixed(status, absl::StrCat(noun, " ", Quoted(name))));
}

absl::Status AtAttribute(absl::string_view name, const absl::Status& status) {
  if (status.ok()) return status;
  InvalidGraphDetails details = InvalidGraphDetails::Of(status);
  details.attribute = Escape(name);
  return details.AddTo(
      Prefixed(status, absl::StrCat("attribute ", Quoted(name))));
}

absl::Status AtGraph(const absl::Status& status) {
  if (status.ok()) return status;
  return InvalidGraphDetails::Of(status).AddTo(status);
}

absl::Status UnknownOperator(absl::string_view node_name,
                             absl::string_view domain,
                             absl::string_view op_type) {
  absl::Status status = absl::UnimplementedError(
      absl::StrCat("node ", Quoted(node_name), ": operator ", Quoted(op_type),
                   " of domain ", Quoted(domain), " has no definition here"));
  // To a client it is the same as an operator without a kernel.
  NoBackendForOp detail;
  detail.op = Escape(op_type);
  detail.node = Escape(node_name);
  detail.ToStatus().ForEachPayload(
      [&status](absl::string_view type_url, const absl::Cord& payload) {
        status.SetPayload(type_url, payload);
      });
  return status;
}

}  // namespace tensord
