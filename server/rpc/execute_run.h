#ifndef TENSORD_SERVER_RPC_EXECUTE_RUN_H_
#define TENSORD_SERVER_RPC_EXECUTE_RUN_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/slice.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/executions/execution_table.h"
#include "server/rpc/execute_request.h"
#include "server/rpc/graph_facts.h"
#include "server/rpc/recorded_runs.h"
#include "server/rpc/request_record.h"
#include "server/rpc/service_environment.h"
#include "server/wire/execute_encoder.h"
#include "server/wire/wire_reader.h"

namespace tensord {

// The call's deadline by the wall clock.
absl::Time DeadlineOf(const grpc::CallbackServerContext& context);

// One ExecuteRequest from its bytes to its answer's: what a unary call and a
// request on a stream have in common. Used again for the next one: its strings
// and vectors keep their capacity, so that a steady state allocates little.
//
// Most runs are the caller's alone, and the engine has them from here. A run
// that somebody else may have to do with has a record (RecordedRuns), which
// this waits for.
//
// Threading: Begin() runs on gRPC's thread, then the engine has it; `done` runs
//   on the thread that ended the run, or inside Begin(). Cancel() may come at
//   any time between Begin() and Reset().
// Ownership: borrows everything; alive until `done`.
class ExecuteRun {
 public:
  using Done = void (*)(ExecuteRun& run, void* user);

  ExecuteRun(const ServiceEnvironment& environment, GraphFactsTable& facts,
             RecordedRuns& runs, Done done, void* user);

  // Reads the request, whose bytes are not needed afterwards, and runs it.
  // `message` is whole, or one within another.
  // `call` is the whole call's, of which the run may be one of many.
  void Begin(const grpc::ByteBuffer& message,
             const grpc::CallbackServerContext& context, RequestRecord& call);
  void Begin(WireReader message, const grpc::CallbackServerContext& context,
             RequestRecord& call);

  // The client has gone. A run with a request_id goes on, for the retry that
  // may come; its caller is answered at once.
  void Cancel();

  // Once done: how it went. The answer's bytes, when it is OK, are taken once.
  const absl::Status& status() const { return status_; }
  uint64_t answer_bytes() const { return encoder_.size_bytes(); }
  void TakeAnswer(std::vector<grpc::Slice>& slices);

  // For the next request.
  void Reset();

 private:
  void Start(const grpc::CallbackServerContext& context, RequestRecord& call);
  void StartRecorded(const grpc::CallbackServerContext& context,
                     RequestRecord& call);
  void OnExecutionDone();
  // By Begin() and by the end of what it waits for: the last one answers, so
  // that the object is not used again while Begin() still is at it.
  void Release();
  absl::Status Encode();
  absl::Status EncodeRecord();
  absl::Status CheckAnswerSize() const;
  void End(absl::Status status);
  void SetPhase(op_profile::Phase phase, uint64_t start_ticks);

  const ServiceEnvironment& environment_;
  RecordedRuns& runs_;
  const Done done_;
  void* const user_;

  // Of this request.
  std::atomic<bool> is_started_{false};  // by the engine, without a record
  std::atomic<bool> is_cancelled_{false};
  Execution execution_;
  ExecutionTable::Begun begun_;
  // Set by Begin() once the record is there, with the waiter that Cancel() may
  // withdraw.
  std::atomic<ExecutionRecord*> record_{nullptr};
  std::atomic<ExecutionRecord::Waiter> waiter_{ExecutionRecord::kNone};
  std::atomic<int> holds_{0};
  bool has_left_ = false;  // guarded by holds_
  absl::Status status_;

  // Kept for the next one.
  ExecuteRequestReader request_;
  ExecuteEncoder encoder_;
  std::string execution_id_;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_EXECUTE_RUN_H_
