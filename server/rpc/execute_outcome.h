#ifndef TENSORD_SERVER_RPC_EXECUTE_OUTCOME_H_
#define TENSORD_SERVER_RPC_EXECUTE_OUTCOME_H_

#include <string>

#include "absl/status/status.h"
#include "engine/exec/execution.h"
#include "engine/profile/op_profile.h"
#include "server/metrics/execution_metrics.h"
#include "server/rpc/service_environment.h"

namespace tensord {

// What becomes of an execution that has ended: its status for the client, and
// its metrics. Threading: thread-safe.

// The execution's status; with InvalidTensor for an input that does not fit,
// and the reason why no device takes it, which only the server can tell in the
// API's words.
absl::Status ExecutionStatus(const Execution& execution, const Engine& engine);

// `status` is ExecutionStatus()'s.
void RecordOutcome(const Execution& execution, const absl::Status& status,
                   metrics::ExecutionMetrics& executions);

// The server's own phases, and the wait for a lane of an execution that
// succeeded.
void RecordPhases(const Execution& execution,
                  const ServiceEnvironment& environment);

// A serialized tensord.v1.ExecutionTrace of a run on `ran_on`.
std::string TraceMessage(const op_profile::TraceBuffer& trace, DeviceId ran_on,
                         const op_profile::OpProfile& profile);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_EXECUTE_OUTCOME_H_
