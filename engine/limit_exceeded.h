#ifndef TENSORD_ENGINE_LIMIT_EXCEEDED_H_
#define TENSORD_ENGINE_LIMIT_EXCEEDED_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tensord {

// Which limit was met, by how much. It travels as the payload of a
// kResourceExhausted absl::Status, beside the text for people; the server turns
// it into the API's error detail LimitExceeded.
//
// Threading and ownership: a plain value.
struct LimitDetails {
  std::string limit;       // "max_nodes": a field of the options
  int64_t maximum = 0;     // its value
  int64_t requested = 0;   // what was asked for or would have been reached
  std::string unit;        // "nodes", "bytes", "executions"
  std::string scope;       // whose limit: "graph", "device cpu:0"
  std::string subject;     // what met it; empty when there is no name
  bool may_retry = false;  // waiting helps: a queue, not a size
  int64_t retry_ns = 0;    // how long, by what waits; 0: nobody knows

  // "--max-nodes"
  std::string Flag() const;

  // kResourceExhausted with `text`, the limit's name, value and flag behind it,
  // and these details.
  absl::Status ToStatus(absl::string_view text) const;

  // Nothing when the status carries no such payload.
  static std::optional<LimitDetails> FromStatus(const absl::Status& status);
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_LIMIT_EXCEEDED_H_
