#ifndef TENSORD_ENGINE_GRAPH_WIRE_SCAN_H_
#define TENSORD_ENGINE_GRAPH_WIRE_SCAN_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tensord {

// A look at the bytes of a protobuf message before they are parsed. Two bytes
// can make a message object of 300 bytes, and nesting costs call stack, so what
// a client sent is counted first, in one pass that allocates only its stack of
// open messages.
//
// Threading and ownership: pure; borrows everything for the call's length.

// A field that the scan must know. It skips all others.
struct WireField {
  enum class Kind : uint8_t {
    kMessage,   // of type `child`
    kText,      // string or bytes
    kIntegers,  // repeated varints, packed or not
  };
  static constexpr int8_t kNoCounter = -1;

  uint8_t message;  // the type that has the field
  uint32_t number;
  Kind kind;
  uint8_t child = 0;
  int8_t counter = kNoCounter;  // each element adds one
};

// A limit on how many elements of some fields there are.
struct WireCounter {
  absl::string_view unit;        // "nodes"
  absl::string_view limit_name;  // "max_nodes"
  int64_t limit;
  bool is_per_message = false;  // within one parent, else in all
};

struct WireSchema {
  absl::Span<const absl::string_view> message_names;
  absl::Span<const WireField> fields;
  absl::Span<const WireCounter> counters;  // at most kMaxWireCounters
  uint8_t root = 0;
  uint8_t graph = 0;  // the type that counts for max_nesting_depth
  int64_t max_nesting_depth = 0;
};

inline constexpr int kMaxWireCounters = 8;

// The most messages and strings that one client message may have: what the
// parser makes of them then stays near a gigabyte.
inline constexpr int64_t kMaxWireObjects = 4'000'000;

// How deep messages nest when graphs nest `max_nesting_depth` deep: a graph in
// a node's attribute is three messages further in, and types are a few more.
// What a parser's recursion limit should be.
int WireDepthLimit(int64_t max_nesting_depth);

// Whether the bytes are well-formed as far as the schema goes, and within its
// limits. kInvalidArgument with the message type, the byte offset and the
// numbers; kResourceExhausted for a limit.
absl::Status ScanWire(absl::string_view bytes, const WireSchema& schema);

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_WIRE_SCAN_H_
