#include "server/rpc/wait_call.h"

#include <grpcpp/alarm.h>
#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"
#include "server/rpc/execute_answer.h"
#include "server/rpc/execute_outcome.h"
#include "server/rpc/execute_run.h"
#include "server/rpc/execution_messages.h"
#include "server/rpc/message_io.h"
#include "server/rpc/principal.h"
#include "server/rpc/request_record.h"
#include "server/rpc/time_messages.h"
#include "server/sessions/resource_id.h"

namespace tensord {
namespace {

// A call's deadline less this is when a wait without a timeout ends.
constexpr absl::Duration kAnswerTime = absl::Milliseconds(20);

// One waiting call. Its run's end, its alarm and its client's leaving may come
// at once: the first one answers.
class WaitCall final : public grpc::ServerUnaryReactor,
                       public std::enable_shared_from_this<WaitCall> {
 public:
  WaitCall(const MethodRecord& method, grpc::CallbackServerContext& context,
           grpc::ByteBuffer& response)
      : environment_(method.environment),
        context_(context),
        response_(response),
        token_(method.environment.active_calls),
        record_(method) {}

  static WaitCall* Start(std::shared_ptr<WaitCall> call,
                         const grpc::ByteBuffer& request) {
    WaitCall* reactor = call.get();
    reactor->self_ = std::move(call);
    absl::Status status = reactor->Begin(request);
    // A refusal is an answer as well: the client may leave right behind it.
    if (!status.ok()) {
      reactor->Answer([&status] { return std::move(status); });
    }
    return reactor;
  }

  void OnCancel() override {
    Answer([] { return absl::CancelledError("the client left"); });
  }

  void OnDone() override { self_.reset(); }

 private:
  absl::Status Begin(const grpc::ByteBuffer& bytes) {
    record_.AddRequestBytes(bytes.Length());
    TENSORD_RETURN_IF_ERROR(
        ParseMessage(bytes, environment_.config.max_message_bytes, request_));
    TENSORD_RETURN_IF_ERROR(
        CheckResourceId("execution", request_.execution_id(),
                        environment_.config.advertised_name));
    TENSORD_ASSIGN_OR_RETURN(
        run_, environment_.holdings.executions.Find(request_.execution_id(),
                                                    PrincipalOf(context_)));
    TENSORD_ASSIGN_OR_RETURN(const absl::Time until, WaitUntil());
    run_->session()->Touch(absl::Now());
    Wait(until);
    return absl::OkStatus();
  }

  absl::StatusOr<absl::Time> WaitUntil() const {
    const absl::Time now = absl::Now();
    absl::Time until = now + environment_.config.max_wait_time;
    if (request_.has_timeout()) {
      TENSORD_ASSIGN_OR_RETURN(const absl::Duration timeout,
                               ReadDuration("timeout", request_.timeout()));
      return std::min(until, now + timeout);
    }
    return std::min(until, DeadlineOf(context_) - kAnswerTime);
  }

  void Wait(absl::Time until) {
    // Whoever answers may end the call while this is still at it.
    const auto self = shared_from_this();
    const ExecutionRecord::Waiter waiter =
        run_->WhenEnded([self] { self->AnswerWithRun(); });
    if (waiter == ExecutionRecord::kNone) return;
    {
      absl::MutexLock lock(&mu_);
      waiter_ = waiter;
    }
    if (until <= absl::Now() || is_answered_.load()) {
      // Answered already, or not to wait at all: then the entry of the record
      // goes at once.
      AnswerWithRun();
      run_->Forget(waiter);
      return;
    }
    alarm_.Set(absl::ToChronoTime(until),
               // An alarm keeps what it calls as long as itself.
               [weak = weak_from_this()](bool ok) {
                 const auto call = weak.lock();
                 if (call != nullptr && ok) call->AnswerWithRun();
               });
    // An answer that came before the alarm was set found none to cancel.
    if (is_answered_.load()) alarm_.Cancel();
  }

  void AnswerWithRun() {
    Answer([this] { return Encode(); });
  }

  // By the first one that comes; `make` gives the call's status.
  template <typename Make>
  void Answer(Make make) {
    if (is_answered_.exchange(true)) return;
    const auto self = shared_from_this();
    alarm_.Cancel();
    ExecutionRecord::Waiter waiter;
    {
      absl::MutexLock lock(&mu_);
      waiter = waiter_;
    }
    if (run_ != nullptr && waiter != ExecutionRecord::kNone) {
      run_->Forget(waiter);
    }
    End(make());
  }

  absl::Status Encode() {
    v1::WaitExecutionResponse head;
    FillExecution(*run_, *head.mutable_execution());
    const bool has_ended =
        head.execution().state() > v1::EXECUTION_STATE_RUNNING;
    if (const auto trace = run_->Trace(); has_ended && trace != nullptr) {
      const DeviceId device = run_->Look().device.value_or(DeviceId());
      head.mutable_trace()->ParseFromString(
          TraceMessage(*trace, device, environment_.profile));
    }
    ExecuteEncoder encoder;
    encoder.BeginWith(head.SerializeAsString());
    if (head.execution().state() == v1::EXECUTION_STATE_SUCCEEDED &&
        !request_.omit_outputs()) {
      TENSORD_ASSIGN_OR_RETURN(const auto outputs, run_->Outputs());
      AddKeptOutputs(*outputs, encoder);
    }
    const int64_t limit = environment_.config.max_message_bytes;
    if (encoder.size_bytes() > static_cast<uint64_t>(limit)) {
      return MessageTooLarge("sent message", encoder.size_bytes(), limit);
    }
    std::vector<grpc::Slice> slices;
    TakeSlices(encoder, environment_.active_calls, slices);
    grpc::ByteBuffer(slices.data(), slices.size()).Swap(&response_);
    return absl::OkStatus();
  }

  // Once.
  void End(absl::Status status) { Finish(record_.End(status, context_)); }

  const ServiceEnvironment& environment_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& response_;
  const ActiveCalls::Token token_;
  RequestRecord record_;
  std::shared_ptr<WaitCall> self_;  // until gRPC is done with it

  v1::WaitExecutionRequest request_;
  ExecutionTable::Pointer run_;
  grpc::Alarm alarm_;
  std::atomic<bool> is_answered_{false};
  absl::Mutex mu_;
  ExecutionRecord::Waiter waiter_ ABSL_GUARDED_BY(mu_) = ExecutionRecord::kNone;
};

}  // namespace

RawService::UnaryHandler MakeWaitHandler(const MethodRecord& method) {
  return
      [&method](grpc::CallbackServerContext* context,
                const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
        return WaitCall::Start(
            std::make_shared<WaitCall>(method, *context, *response), *request);
      };
}

}  // namespace tensord
