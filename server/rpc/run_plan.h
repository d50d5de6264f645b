#ifndef TENSORD_SERVER_RPC_RUN_PLAN_H_
#define TENSORD_SERVER_RPC_RUN_PLAN_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "server/executions/output_wish.h"

namespace tensord {

// What a request says of a run that the engine need not know. A plain value,
// used again for the next request.
struct RunPlan {
  struct Handle {
    size_t input = 0;  // of the graph's inputs
    std::string tensor_id;
    bool donate = false;
  };

  std::string session_id;
  std::string request_id;
  std::string trace_id;            // of the call
  std::string comparable_options;  // what a retry must repeat, serialized
  std::optional<absl::Duration> keep_result;
  // In the order asked for; none: all, by value.
  absl::InlinedVector<OutputWish, 4> outputs;
  std::vector<Handle> handles;

  // Someone else than the call may have to do with the run: it belongs to a
  // session, and has a record. Otherwise it is the call's alone.
  bool NeedsRecord() const {
    if (!session_id.empty() || !request_id.empty() || !handles.empty()) {
      return true;
    }
    for (const OutputWish& output : outputs) {
      if (output.stays) return true;
    }
    return keep_result.has_value();
  }

  void Clear() {
    session_id.clear();
    request_id.clear();
    trace_id.clear();
    comparable_options.clear();
    keep_result.reset();
    outputs.clear();
    handles.clear();
  }
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_RUN_PLAN_H_
