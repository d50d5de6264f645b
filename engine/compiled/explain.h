#ifndef TENSORD_ENGINE_COMPILED_EXPLAIN_H_
#define TENSORD_ENGINE_COMPILED_EXPLAIN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backends/api/device_id.h"
#include "backends/api/dtype.h"
#include "engine/compiled/no_backend_for_op.h"

namespace tensord {

// A compiled graph for people to read, made while it is planned.
// Threading and ownership: plain values.
struct ExplainedNode {
  std::string name;
  std::string op;
  std::string kernel;  // empty for a view, which launches nothing
  std::string kernel_source;
  uint64_t revision_hash = 0;
  DType dtype = DType::kUndefined;  // of output 0
  std::string output_shape;
  DeviceId device;
  double estimated_ns = 0;
  int segment_index = 0;
  bool output_is_in_arena = false;
  uint64_t arena_offset = 0;
  uint64_t output_bytes = 0;
  uint64_t workspace_bytes = 0;
  std::vector<std::string> fused_from;
  std::vector<NoBackendForOp::Declined> declined;
};

struct ExplainedPass {
  std::string name;
  std::string effect;  // "folded 3 nodes into 4,096 bytes"
};

// A copy between the memory of the graph's device and the host's.
struct ExplainedTransfer {
  std::string value;
  bool is_to_host = false;
  uint64_t size_bytes = 0;  // an upper bound where only the data can tell
  double estimated_ns = 0;
  // The launch that it comes before; the number of launches for an output.
  int32_t before_launch = 0;
};

struct Explanation {
  DeviceId device;
  // The launches in their order, each at the index that a trace calls it by;
  // then the views. Segments after the first are shown for the upper bounds of
  // their extents.
  std::vector<ExplainedNode> nodes;
  std::vector<ExplainedPass> passes;
  // Inputs first and outputs last. Empty where the host and the device have one
  // memory.
  std::vector<ExplainedTransfer> transfers;
  uint64_t arena_bytes = 0;
  uint64_t arena_lower_bound_bytes = 0;
  uint64_t peak_bytes = 0;
  uint64_t weight_bytes = 0;
  int segment_count = 1;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_EXPLAIN_H_
