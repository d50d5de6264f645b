#ifndef TENSORD_SERVER_RPC_EXECUTE_OPTIONS_H_
#define TENSORD_SERVER_RPC_EXECUTE_OPTIONS_H_

#include <string>

#include "absl/status/status.h"
#include "engine/engine.h"
#include "engine/exec/execution.h"
#include "server/rpc/run_plan.h"

namespace tensord {

// What a serialized tensord.v1.ExecuteOptions asks for, put into an execution
// whose graph is set, and into the run's plan.
//
// Threading: thread-safe.
// Errors: kInvalidArgument; kNotFound for the device; kUnimplemented for what
//   this version would have to ignore, rather than ignoring it.
absl::Status ApplyExecuteOptions(const std::string& bytes, const Engine& engine,
                                 int64_t max_trace_rows, Execution& execution,
                                 RunPlan& plan);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_EXECUTE_OPTIONS_H_
