#include "server/rpc/execution_messages.h"

#include <algorithm>

#include "server/rpc/status_mapping.h"
#include "server/rpc/time_messages.h"

namespace tensord {
namespace {

void FillTimings(const PhaseTimes& phase_ns, v1::PhaseTimings& message) {
  const auto ns = [&](op_profile::Phase phase) {
    return phase_ns[static_cast<size_t>(phase)];
  };
  message.set_decode_ns(ns(op_profile::Phase::kDecode));
  message.set_queue_ns(ns(op_profile::Phase::kQueue));
  message.set_compile_ns(ns(op_profile::Phase::kCompile));
  message.set_upload_ns(ns(op_profile::Phase::kUpload));
  message.set_run_ns(ns(op_profile::Phase::kRun));
  message.set_wait_ns(ns(op_profile::Phase::kWait));
  message.set_download_ns(ns(op_profile::Phase::kDownload));
}

// Phases know how long they took; where they stand follows from two times that
// are known: the run was created once it was decoded, and its waiting ended
// when it took its lane.
void FillStages(const ExecutionRecord::View& view, absl::Time create_time,
                v1::Execution& message) {
  const auto duration = [&](op_profile::Phase phase) {
    return absl::Nanoseconds(view.phase_ns[static_cast<size_t>(phase)]);
  };
  absl::Time next = create_time - duration(op_profile::Phase::kDecode);
  for (const op_profile::Phase phase :
       {op_profile::Phase::kDecode, op_profile::Phase::kCompile,
        op_profile::Phase::kQueue, op_profile::Phase::kUpload,
        op_profile::Phase::kRun, op_profile::Phase::kWait,
        op_profile::Phase::kDownload}) {
    if (phase == op_profile::Phase::kQueue && view.start.has_value()) {
      next = std::max(next, *view.start - duration(phase));
    }
    if (duration(phase) == absl::ZeroDuration()) continue;
    v1::ExecutionStage& stage = *message.add_stages();
    stage.set_phase(std::string(op_profile::PhaseName(phase)));
    FillTime(next, *stage.mutable_start_time());
    stage.set_duration_ns(absl::ToInt64Nanoseconds(duration(phase)));
    next += duration(phase);
  }
}

v1::Priority ToMessage(Priority priority) {
  switch (priority) {
    case Priority::kHigh:
      return v1::PRIORITY_HIGH;
    case Priority::kNormal:
      return v1::PRIORITY_NORMAL;
    case Priority::kLow:
      return v1::PRIORITY_LOW;
  }
  return v1::PRIORITY_UNSPECIFIED;
}

}  // namespace

v1::ExecutionState ToMessage(ExecutionState state) {
  // They are in one order, and the message's first is "not told".
  return static_cast<v1::ExecutionState>(static_cast<int>(state) + 1);
}

void FillExecution(const ExecutionRecord& record, v1::Execution& message) {
  const ExecutionRecord::Description& description = record.description();
  const ExecutionRecord::View view = record.Look();
  message.set_execution_id(description.id);
  message.set_graph_id(description.graph_id);
  message.set_session_id(record.session()->id());
  message.set_request_id(description.request_id);
  message.set_state(ToMessage(view.state));
  if (view.device.has_value()) message.set_device(view.device->ToString());
  message.set_priority(ToMessage(description.priority));
  FillTime(description.create_time, *message.mutable_create_time());
  if (view.compile_end.has_value()) {
    FillTime(*view.compile_end, *message.mutable_compile_end_time());
  }
  if (view.start.has_value()) {
    FillTime(*view.start, *message.mutable_start_time());
  }
  if (view.end.has_value()) FillTime(*view.end, *message.mutable_end_time());
  if (view.result_expire.has_value()) {
    FillTime(*view.result_expire, *message.mutable_result_expire_time());
  }
  if (!view.status.ok()) {
    *message.mutable_error() = ToRpcStatus(view.status, description.trace_id);
  }
  FillTimings(view.phase_ns, *message.mutable_timings());
  message.set_trace_id(description.trace_id);
  if (view.end.has_value()) {
    FillStages(view, description.create_time, message);
  }
}

}  // namespace tensord
