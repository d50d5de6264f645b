#include "server/rpc/execution_messages.h"

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
  message.set_priority(v1::PRIORITY_NORMAL);
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
    *message.mutable_error() = ToRpcStatus(view.status, description.id);
  }
  FillTimings(view.phase_ns, *message.mutable_timings());
}

}  // namespace tensord
