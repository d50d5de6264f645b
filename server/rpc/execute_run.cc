#include "server/rpc/execute_run.h"

#include <utility>

#include "engine/graph/status_macros.h"
#include "engine/profile/clock.h"
#include "server/errors/error_details.h"
#include "server/rpc/execute_answer.h"
#include "server/rpc/execute_outcome.h"
#include "server/rpc/flow_of.h"
#include "server/rpc/make_holdings.h"
#include "server/rpc/principal.h"
#include "server/rpc/session_of.h"

namespace tensord {

using op_profile::Phase;

absl::Time DeadlineOf(const grpc::CallbackServerContext& context) {
  const gpr_timespec deadline = context.raw_deadline();
  if (gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) == 0) {
    return absl::InfiniteFuture();
  }
  const gpr_timespec wall =
      gpr_convert_clock_type(deadline, GPR_CLOCK_REALTIME);
  return absl::FromUnixSeconds(wall.tv_sec) + absl::Nanoseconds(wall.tv_nsec);
}

ExecuteRun::ExecuteRun(const ServiceEnvironment& environment,
                       GraphFactsTable& facts, RecordedRuns& runs, Done done,
                       void* user)
    : environment_(environment),
      runs_(runs),
      done_(done),
      user_(user),
      request_(environment, facts) {
  execution_.on_done = [](Execution& execution) {
    static_cast<ExecuteRun*>(execution.user)->OnExecutionDone();
  };
  execution_.user = this;
}

void ExecuteRun::Begin(const grpc::ByteBuffer& message,
                       const grpc::CallbackServerContext& context,
                       RequestRecord& call) {
  const uint64_t start = op_profile::TickClock::Get().Now();
  absl::Status status =
      request_.Read(message, PrincipalOf(context), execution_);
  // gRPC would keep the received bytes until the call is over, beside the copy
  // that runs. The object is not const, only its reference is.
  const_cast<grpc::ByteBuffer&>(message).Clear();
  if (!status.ok()) return End(std::move(status));
  SetPhase(Phase::kDecode, start);
  Start(context, call);
}

void ExecuteRun::Begin(WireReader message,
                       const grpc::CallbackServerContext& context,
                       RequestRecord& call) {
  const uint64_t start = op_profile::TickClock::Get().Now();
  absl::Status status =
      request_.Read(message, PrincipalOf(context), execution_);
  if (!status.ok()) return End(std::move(status));
  SetPhase(Phase::kDecode, start);
  Start(context, call);
}

void ExecuteRun::Start(const grpc::CallbackServerContext& context,
                       RequestRecord& call) {
  execution_.flow = FlowOf(request_.plan().session_id, context);
  if (request_.plan().NeedsRecord()) return StartRecorded(context, call);
  execution_.deadline = DeadlineOf(context);
  is_started_.store(true);
  if (is_cancelled_.load()) execution_.is_cancelled.store(true);
  environment_.engine.Start(execution_);
}

void ExecuteRun::StartRecorded(const grpc::CallbackServerContext& context,
                               RequestRecord& call) {
  RunPlan& plan = request_.plan();
  plan.trace_id = call.TraceId(context);
  absl::StatusOr<std::shared_ptr<Session>> session =
      SessionOf(environment_, plan.session_id, context);
  if (!session.ok()) return End(session.status());
  // Nobody can ask for the result of a run that has no name of its own.
  if (plan.request_id.empty() && !plan.keep_result.has_value()) {
    plan.keep_result = absl::ZeroDuration();
  }
  absl::StatusOr<ExecutionTable::Begun> begun =
      runs_.Start(request_.graph_id(), plan, execution_, *std::move(session),
                  DeadlineOf(context));
  if (!begun.ok()) return End(begun.status());
  begun_ = *std::move(begun);
  record_.store(begun_.record.get());
  holds_.store(2);
  waiter_.store(begun_.record->WhenEnded([this] { Release(); }));
  // A cancellation that came before found nothing to do.
  if (is_cancelled_.load()) Cancel();
  Release();
}

void ExecuteRun::Release() {
  if (holds_.fetch_sub(1) > 1) return;
  End(has_left_ ? absl::CancelledError(
                      "the client left; the run goes on under its request_id")
                : EncodeRecord());
}

void ExecuteRun::Cancel() {
  is_cancelled_.store(true);
  if (is_started_.load()) {
    environment_.engine.Cancel(execution_);
    return;
  }
  ExecutionRecord* record = record_.load();
  if (record == nullptr) return;
  if (record->description().request_id.empty()) {
    CancelRun(environment_.engine, *record);
  } else if (record->Forget(waiter_.load())) {
    has_left_ = true;
    Release();
  }
}

void ExecuteRun::OnExecutionDone() {
  const uint64_t start = op_profile::TickClock::Get().Now();
  absl::Status status = ExecutionStatus(execution_, environment_.engine);
  RecordOutcome(execution_, status, environment_.executions);
  if (status.ok()) status = Encode();
  if (status.ok()) SetPhase(Phase::kEncode, start);
  RecordPhases(execution_, environment_);
  End(std::move(status));
}

absl::Status ExecuteRun::Encode() {
  NewResourceId(environment_.config.advertised_name, execution_id_);
  const std::string device = execution_.ran_on.ToString();
  std::string trace;
  if (execution_.trace != nullptr) {
    trace = TraceMessage(*execution_.trace, execution_.ran_on,
                         environment_.profile);
  }
  encoder_.Begin({execution_id_, device, execution_.phase_ns, trace});
  const Graph& graph = *execution_.graph->graph();
  const auto add = [&](size_t index) {
    encoder_.AddOutput(graph.value(graph.outputs[index]).name,
                       std::move(execution_.outputs[index]));
  };
  if (request_.plan().outputs.empty()) {
    for (size_t i = 0; i < execution_.outputs.size(); ++i) add(i);
  } else {
    for (const OutputWish& wish : request_.plan().outputs) add(wish.index);
  }
  return CheckAnswerSize();
}

absl::Status ExecuteRun::EncodeRecord() {
  const ExecutionRecord& record = *begun_.record;
  TENSORD_ASSIGN_OR_RETURN(const auto outputs, record.Outputs());
  const ExecutionRecord::View view = record.Look();
  const std::string device =
      view.device.has_value() ? view.device->ToString() : std::string();
  std::string trace;
  if (const auto rows = record.Trace(); rows != nullptr) {
    trace = TraceMessage(*rows, view.device.value_or(DeviceId()),
                         environment_.profile);
  }
  encoder_.Begin({record.id(), device, view.phase_ns, trace, begun_.is_replay});
  AddKeptOutputs(*outputs, encoder_);
  return CheckAnswerSize();
}

absl::Status ExecuteRun::CheckAnswerSize() const {
  const int64_t limit = environment_.config.max_message_bytes;
  if (encoder_.size_bytes() <= static_cast<uint64_t>(limit)) {
    return absl::OkStatus();
  }
  return MessageTooLarge("sent message", encoder_.size_bytes(), limit);
}

void ExecuteRun::TakeAnswer(std::vector<grpc::Slice>& slices) {
  TakeSlices(encoder_, environment_.active_calls, slices);
}

void ExecuteRun::End(absl::Status status) {
  status_ = std::move(status);
  done_(*this, user_);
}

void ExecuteRun::SetPhase(Phase phase, uint64_t start_ticks) {
  const auto clock = op_profile::TickClock::Get();
  execution_.phase_ns[static_cast<size_t>(phase)] =
      static_cast<int64_t>(clock.ToNs(clock.Elapsed(start_ticks, clock.Now())));
}

void ExecuteRun::Reset() {
  is_started_.store(false, std::memory_order_relaxed);
  is_cancelled_.store(false, std::memory_order_relaxed);
  record_.store(nullptr, std::memory_order_relaxed);
  waiter_.store(ExecutionRecord::kNone, std::memory_order_relaxed);
  has_left_ = false;
  begun_ = {};
  execution_.graph.reset();
  execution_.compiled.reset();
  execution_.preparation.reset();
  execution_.inputs.clear();
  execution_.outputs.clear();
  execution_.wish = {};
  execution_.priority = Priority::kNormal;
  execution_.queue_timeout = absl::InfiniteDuration();
  execution_.execution_timeout = absl::InfiniteDuration();
  execution_.trace_capacity = 0;
  execution_.trace_device_times = false;
  execution_.trace.reset();
  execution_.is_cancelled.store(false, std::memory_order_relaxed);
  execution_.status = absl::OkStatus();
  execution_.phase_ns.fill(0);
  status_ = absl::OkStatus();
  encoder_.parts().clear();
}

}  // namespace tensord
