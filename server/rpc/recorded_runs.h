#ifndef TENSORD_SERVER_RPC_RECORDED_RUNS_H_
#define TENSORD_SERVER_RPC_RECORDED_RUNS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/exec/execution.h"
#include "server/executions/execution_table.h"
#include "server/rpc/run_plan.h"
#include "server/rpc/service_environment.h"

namespace tensord {

// Runs that have a record: those of StartExecution, and those of Execute and
// ExecuteStream that somebody else may have to do with (RunPlan::NeedsRecord).
// What is admitted here ends in the table of executions, whatever becomes of
// the call.
//
// Threading: thread-safe; goes when no call can come any more.
// Ownership: borrows the environment.
class RecordedRuns {
 public:
  explicit RecordedRuns(const ServiceEnvironment& environment)
      : environment_(environment) {}
  // Ends all sessions, and with them what would still be ended here.
  ~RecordedRuns() { environment_.holdings.EndAll(); }

  // Admits and starts what was read into `read` and `plan`; takes both over.
  // Answers with the run, which may have ended by now, or with the earlier one
  // that this is a retry of.
  // Errors: ExecutionTable::Begin's; kNotFound and TENSOR_CONSUMED for a
  // tensor;
  //   what the engine refuses at the door. A donated tensor is then as before.
  absl::StatusOr<ExecutionTable::Begun> Start(std::string graph_id,
                                              RunPlan& plan, Execution& read,
                                              std::shared_ptr<Session> session,
                                              absl::Time deadline);

 private:
  absl::Status TakeTensors(const RunPlan& plan, ExecutionRecord& record);
  void RestoreDonated(ExecutionRecord& record);
  // On the thread that ended the run.
  void Finish(const ExecutionTable::Pointer& record);
  absl::StatusOr<std::vector<KeptOutput>> TakeOutputs(ExecutionRecord& record);
  absl::StatusOr<KeptOutput> TakeOutput(ExecutionRecord& record,
                                        const OutputWish& wish);
  absl::StatusOr<TensorTable::Pointer> Keep(ExecutionRecord& record,
                                            const OutputWish& wish,
                                            HostValue value);

  const ServiceEnvironment& environment_;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_RECORDED_RUNS_H_
