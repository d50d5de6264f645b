#ifndef TENSORD_SERVER_RPC_REQUEST_FINGERPRINT_H_
#define TENSORD_SERVER_RPC_REQUEST_FINGERPRINT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "engine/exec/execution.h"
#include "server/rpc/run_plan.h"

namespace tensord {

// By what a retry is known to be the same request: SHA-256 over the graph, the
// options, inputs and outputs, as ExecutionService says. Inputs by handle go by
// their handles.
// Threading and ownership: pure.
std::string FingerprintOf(absl::string_view graph_id, const RunPlan& plan,
                          const Execution& execution);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_REQUEST_FINGERPRINT_H_
