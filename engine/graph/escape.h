#ifndef TENSORD_ENGINE_GRAPH_ESCAPE_H_
#define TENSORD_ENGINE_GRAPH_ESCAPE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tensord {

// How strings of a client get into messages: the one way, so that no message,
// log line or terminal sees a control character, bytes that are not UTF-8, or a
// megabyte of name.
//
// Threading and ownership: pure functions.

// The longest piece of a client's string that a message repeats.
inline constexpr size_t kMaxEscapedBytes = 96;

// `text` with control characters, quotes, backslashes and (where it is not
// UTF-8) all bytes above 0x7e as C escapes. What is longer than
// kMaxEscapedBytes is cut, with "..." and the full length behind.
std::string Escape(absl::string_view text);

// Escape() between single quotes.
std::string Quoted(absl::string_view text);

// OK for valid UTF-8 without control characters; otherwise kInvalidArgument
// that names the first offending byte. `what` is the noun: "value name".
absl::Status CheckPrintable(absl::string_view what, absl::string_view text);

// kResourceExhausted for a limit of GraphLimits, with LimitDetails: "graph has
// 12 nodes; the limit max_nodes is 10 (--max-nodes)". `what` is its subject.
absl::Status LimitExceeded(absl::string_view what, int64_t asked,
                           absl::string_view unit, absl::string_view limit_name,
                           int64_t limit);

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_ESCAPE_H_
