#ifndef TENSORD_SERVER_GRAPH_CODEC_GRAPH_WIRE_H_
#define TENSORD_SERVER_GRAPH_CODEC_GRAPH_WIRE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/graph/limits.h"

namespace tensord {

// ScanWire() for a serialized tensord.v1.Graph.
// Threading and ownership: pure.
absl::Status ScanGraphMessage(absl::string_view bytes,
                              const GraphLimits& limits);

}  // namespace tensord

#endif  // TENSORD_SERVER_GRAPH_CODEC_GRAPH_WIRE_H_
