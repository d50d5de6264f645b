#include "server/rpc/recorded_runs.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"
#include "server/rpc/execute_outcome.h"
#include "server/rpc/request_fingerprint.h"
#include "server/sessions/resource_id.h"

namespace tensord {
namespace {

// It ended before anything of it ran, and not since somebody wanted it to.
bool WasRefused(const ExecutionRecord& record, const absl::Status& status) {
  return !status.ok() && !absl::IsCancelled(status) &&
         !absl::IsDeadlineExceeded(status) &&
         record.execution.started_ns.load(std::memory_order_acquire) == 0;
}

// All but what the engine writes.
void Move(Execution& from, Execution& to) {
  to.graph = std::move(from.graph);
  to.inputs = std::move(from.inputs);
  to.wish = from.wish;
  to.priority = from.priority;
  to.flow = from.flow;
  to.queue_timeout = from.queue_timeout;
  to.execution_timeout = from.execution_timeout;
  to.trace_capacity = from.trace_capacity;
  to.trace_device_times = from.trace_device_times;
  to.phase_ns = from.phase_ns;
}

}  // namespace

absl::StatusOr<ExecutionTable::Begun> RecordedRuns::Start(
    std::string graph_id, RunPlan& plan, Execution& read,
    std::shared_ptr<Session> session, absl::Time deadline) {
  ExecutionTable& executions = environment_.holdings.executions;
  ExecutionTable::Request request;
  if (!plan.request_id.empty()) {
    request.fingerprint = FingerprintOf(graph_id, plan, read);
  }
  request.graph_id = std::move(graph_id);
  request.request_id = plan.request_id;
  request.trace_id = plan.trace_id;
  request.keep_result = plan.keep_result;
  request.priority = read.priority;
  TENSORD_ASSIGN_OR_RETURN(
      ExecutionTable::Begun begun,
      executions.Begin(std::move(request), std::move(session), absl::Now()));
  if (begun.is_replay) return begun;
  ExecutionRecord& record = *begun.record;
  Move(read, record.execution);
  record.execution.deadline = deadline;
  record.wishes.assign(plan.outputs.begin(), plan.outputs.end());
  absl::Status status = TakeTensors(plan, record);
  if (!status.ok()) {
    RestoreDonated(record);
    executions.End(begun.record, status, {}, /*is_refused=*/true, absl::Now());
    executions.Forget(record);
    return status;
  }
  record.self = begun.record;
  record.finish = [this](const ExecutionTable::Pointer& ended) {
    Finish(ended);
  };
  record.execution.user = &record;
  record.execution.on_done = [](Execution& execution) {
    auto& ended = *static_cast<ExecutionRecord*>(execution.user);
    const ExecutionTable::Pointer self = std::move(ended.self);
    self->finish(self);
  };
  record.is_started.store(true);
  environment_.engine.Start(record.execution);
  const ExecutionRecord::View view = record.Look();
  if (view.end.has_value() && WasRefused(record, view.status)) {
    executions.Forget(record);
    return view.status;
  }
  return begun;
}

absl::Status RecordedRuns::TakeTensors(const RunPlan& plan,
                                       ExecutionRecord& record) {
  TensorTable& tensors = environment_.holdings.tensors;
  const std::string& principal = record.session()->description().principal;
  for (const RunPlan::Handle& handle : plan.handles) {
    TENSORD_RETURN_IF_ERROR(CheckResourceId(
        "tensor", handle.tensor_id, environment_.config.advertised_name));
    absl::StatusOr<TensorTable::Pointer> tensor =
        handle.donate ? tensors.Consume(handle.tensor_id, principal,
                                        record.id(), absl::Now())
                      : tensors.Find(handle.tensor_id, principal, absl::Now());
    if (!tensor.ok()) return tensor.status();
    const ResidentTensor::Description& description = (*tensor)->description();
    HostValue& input = record.execution.inputs[handle.input];
    input.dtype = description.dtype;
    input.shape = description.shape;
    input.bytes = PooledBuffer::ShareOf((*tensor)->bytes());
    if (handle.donate) {
      record.donated.emplace_back(handle.input, *std::move(tensor));
    } else {
      record.tensors.push_back(*std::move(tensor));
    }
  }
  return absl::OkStatus();
}

void RecordedRuns::RestoreDonated(ExecutionRecord& record) {
  for (auto& [input, tensor] : record.donated) {
    environment_.holdings.tensors.Restore(std::move(tensor));
  }
  record.donated.clear();
}

void RecordedRuns::Finish(const ExecutionTable::Pointer& record) {
  Execution& execution = record->execution;
  absl::Status status = ExecutionStatus(execution, environment_.engine);
  const bool is_refused = WasRefused(*record, status);
  std::vector<KeptOutput> outputs;
  if (status.ok()) {
    absl::StatusOr<std::vector<KeptOutput>> taken = TakeOutputs(*record);
    if (taken.ok()) {
      outputs = *std::move(taken);
    } else {
      status = taken.status();
    }
  }
  RecordOutcome(execution, status, environment_.executions);
  RecordPhases(execution, environment_);
  if (is_refused) RestoreDonated(*record);
  record->tensors.clear();
  record->donated.clear();
  execution.inputs.clear();
  execution.outputs.clear();
  execution.graph.reset();
  environment_.holdings.executions.End(
      record, std::move(status), std::move(outputs), is_refused, absl::Now());
}

absl::StatusOr<std::vector<KeptOutput>> RecordedRuns::TakeOutputs(
    ExecutionRecord& record) {
  // Donated storage is free before outputs ask for their part of the session's
  // bytes: a cache that is updated in each step needs room for one.
  std::vector<std::pair<size_t, uint64_t>> donated;
  for (const auto& [input, tensor] : record.donated) {
    donated.emplace_back(input, tensor->size_bytes());
  }
  for (const OutputWish& wish : record.wishes) {
    if (!wish.reuse_input.has_value()) continue;
    const HostValue& output = record.execution.outputs[wish.index];
    for (const auto& [input, size] : donated) {
      if (input != *wish.reuse_input || size == output.bytes.size()) continue;
      return BadField("outputs.reuse_input",
                      absl::StrCat("the output has ", output.bytes.size(),
                                   " bytes, and the donated input ", size));
    }
  }
  record.execution.inputs.clear();
  record.donated.clear();
  std::vector<KeptOutput> outputs;
  if (record.wishes.empty()) {
    for (size_t i = 0; i < record.execution.outputs.size(); ++i) {
      record.wishes.push_back({.index = i});
    }
  }
  for (const OutputWish& wish : record.wishes) {
    absl::StatusOr<KeptOutput> output = TakeOutput(record, wish);
    if (!output.ok()) {
      for (const KeptOutput& kept : outputs) {
        if (kept.tensor == nullptr) continue;
        environment_.holdings.tensors
            .Remove(kept.tensor->id(),
                    record.session()->description().principal, absl::Now())
            .IgnoreError();
      }
      return output.status();
    }
    outputs.push_back(*std::move(output));
  }
  return outputs;
}

absl::StatusOr<KeptOutput> RecordedRuns::TakeOutput(ExecutionRecord& record,
                                                    const OutputWish& wish) {
  const Graph& graph = *record.execution.graph->graph();
  HostValue value = std::move(record.execution.outputs[wish.index]);
  KeptOutput output;
  output.name = graph.value(graph.outputs[wish.index]).name;
  output.dtype = value.dtype;
  output.shape = value.shape;
  if (wish.stays) {
    TENSORD_ASSIGN_OR_RETURN(output.tensor,
                             Keep(record, wish, std::move(value)));
  } else {
    output.bytes = std::make_shared<const PooledBuffer>(std::move(value.bytes));
  }
  return output;
}

absl::StatusOr<TensorTable::Pointer> RecordedRuns::Keep(ExecutionRecord& record,
                                                        const OutputWish& wish,
                                                        HostValue value) {
  const std::shared_ptr<Session>& session = record.session();
  TENSORD_ASSIGN_OR_RETURN(Session::Lease lease,
                           Session::Take(session, value.bytes.size()));
  ResidentTensor::Description description;
  description.id = NewResourceId(environment_.config.advertised_name);
  description.dtype = value.dtype;
  description.shape = std::move(value.shape);
  description.device = record.execution.ran_on;
  description.create_time = absl::Now();
  description.time_to_live =
      wish.time_to_live.value_or(session->description().time_to_live);
  description.execution_id = record.id();
  auto tensor = std::make_shared<const ResidentTensor>(
      std::move(description), session, std::move(lease),
      std::make_shared<const PooledBuffer>(std::move(value.bytes)));
  TENSORD_RETURN_IF_ERROR(environment_.holdings.tensors.Add(tensor));
  return TensorTable::Pointer(std::move(tensor));
}

}  // namespace tensord
