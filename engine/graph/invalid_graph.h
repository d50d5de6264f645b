#ifndef TENSORD_ENGINE_GRAPH_INVALID_GRAPH_H_
#define TENSORD_ENGINE_GRAPH_INVALID_GRAPH_H_

#include <optional>
#include <string>

#include "absl/status/status.h"

namespace tensord {

// Where a graph is wrong. It travels as the payload of a kInvalidArgument
// absl::Status, beside the text for people; the server turns it into the API's
// error detail InvalidGraph. Clients' strings in it are escaped.
//
// Threading and ownership: a plain value.
struct InvalidGraphDetails {
  std::string node;         // empty if it is not in a node
  std::string op;           // the node's
  std::string value;        // empty if none
  std::string attribute;    // empty if none
  std::string description;  // the text without the places above

  // `status` with these details instead of those that it has. Only for
  // kInvalidArgument; other statuses stay as they are.
  absl::Status AddTo(absl::Status status) const;

  // Nothing when the status carries no such payload.
  static std::optional<InvalidGraphDetails> FromStatus(
      const absl::Status& status);

  // Those of the status, or else new ones with its text as description.
  static InvalidGraphDetails Of(const absl::Status& status);
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_INVALID_GRAPH_H_
