#include "server/rpc/execute_call.h"

#include <grpc/slice.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/graph/status_macros.h"
#include "engine/profile/clock.h"
#include "server/errors/error_details.h"
#include "server/rpc/execute_outcome.h"
#include "server/rpc/execute_request.h"
#include "server/rpc/execution_id.h"
#include "server/rpc/principal.h"
#include "server/wire/execute_encoder.h"

namespace tensord {
namespace {

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

class ExecuteCallPool;

// A call, used again for the next one: its strings and vectors keep their
// capacity, so that a steady state allocates little beside what gRPC does.
//
// Threading: Begin() runs on gRPC's thread, then the engine has it, then
//   OnExecutionDone() runs on the lane's thread or inside Begin().
class ExecuteCall {
 public:
  ExecuteCall(const MethodRecord& method, GraphFactsTable& facts,
              ExecuteCallPool& pool)
      : environment_(method.environment),
        method_(method),
        pool_(pool),
        request_(environment_, facts) {
    execution_.on_done = [](Execution& execution) {
      static_cast<ExecuteCall*>(execution.user)->OnExecutionDone();
    };
    execution_.user = this;
  }

  grpc::ServerUnaryReactor* Begin(grpc::CallbackServerContext& context,
                                  const grpc::ByteBuffer& request,
                                  grpc::ByteBuffer& response) {
    context_ = &context;
    response_ = &response;
    token_.emplace(environment_.active_calls);
    record_.emplace(method_);
    // The caller gets what is there now: the call may end, and be used again,
    // before it returns.
    grpc::ServerUnaryReactor* reactor = &reactor_.emplace(*this);
    record_->AddRequestBytes(request.Length());
    absl::Status status = Decode(request);
    // gRPC would keep the received bytes until the call is over, beside the
    // copy that runs. The object is not const, only its reference is.
    const_cast<grpc::ByteBuffer&>(request).Clear();
    if (!status.ok()) {
      End(status);
      return reactor;
    }
    is_started_.store(true, std::memory_order_release);
    environment_.engine.Start(execution_);
    return reactor;
  }

 private:
  // gRPC's side of the call; a new one each time.
  class Reactor final : public grpc::ServerUnaryReactor {
   public:
    explicit Reactor(ExecuteCall& call) : call_(call) {}
    void OnCancel() override { call_.Cancel(); }
    void OnDone() override { call_.Recycle(); }

   private:
    // Both are short and block nothing, so gRPC may call them where it is
    // instead of waking another thread: as its own default reactor does it.
    bool InternalInlineable() override { return true; }

    ExecuteCall& call_;
  };

  absl::Status Decode(const grpc::ByteBuffer& request) {
    const auto clock = op_profile::TickClock::Get();
    const uint64_t start = clock.Now();
    TENSORD_RETURN_IF_ERROR(
        request_.Read(request, PrincipalOf(*context_), execution_));
    execution_.deadline = DeadlineOf(*context_);
    SetPhase(Phase::kDecode, clock, start);
    return absl::OkStatus();
  }

  void SetPhase(Phase phase, op_profile::TickClock clock, uint64_t start) {
    execution_.phase_ns[static_cast<size_t>(phase)] =
        static_cast<int64_t>(clock.ToNs(clock.Elapsed(start, clock.Now())));
  }

  void Cancel() {
    if (is_started_.load(std::memory_order_acquire)) {
      environment_.engine.Cancel(execution_);
    }
  }

  void OnExecutionDone() {
    const auto clock = op_profile::TickClock::Get();
    const uint64_t start = clock.Now();
    absl::Status status = ExecutionStatus(execution_, environment_.engine);
    RecordOutcome(execution_, status, environment_.executions);
    if (status.ok()) status = Encode();
    if (status.ok()) SetPhase(Phase::kEncode, clock, start);
    RecordPhases(execution_, environment_);
    End(status);
  }

  absl::Status Encode() {
    NewExecutionId(environment_.config.advertised_name, execution_id_);
    const std::string device = execution_.ran_on.ToString();
    std::string trace;
    if (execution_.trace != nullptr) {
      trace = TraceMessage(execution_, environment_.profile);
    }
    encoder_.Begin({execution_id_, device, execution_.phase_ns, trace});
    if (request_.wanted().empty()) {
      for (size_t i = 0; i < execution_.outputs.size(); ++i) AddOutput(i);
    } else {
      for (const size_t index : request_.wanted()) AddOutput(index);
    }
    if (encoder_.size_bytes() >
        static_cast<uint64_t>(environment_.config.max_message_bytes)) {
      return MessageTooLarge("sent message", encoder_.size_bytes(),
                             environment_.config.max_message_bytes);
    }
    FillResponse();
    return absl::OkStatus();
  }

  void AddOutput(size_t index) {
    const Graph& graph = *execution_.graph->graph();
    encoder_.AddOutput(graph.value(graph.outputs[index]).name,
                       std::move(execution_.outputs[index]));
  }

  void FillResponse() {
    const std::string& text = encoder_.text();
    const grpc_slice headers =
        grpc_slice_from_copied_buffer(text.data(), text.size());
    slices_.clear();
    size_t begin = 0;
    for (ExecuteEncoder::Part& part : encoder_.parts()) {
      const size_t end = begin + part.header_bytes;
      slices_.emplace_back(grpc_slice_sub(headers, begin, end),
                           grpc::Slice::STEAL_REF);
      begin = end;
      if (part.data.size() == 0) continue;
      // The transport lets go of it when the last byte is written.
      auto* owner = new PooledBuffer(std::move(part.data));
      slices_.emplace_back(
          owner->data(), owner->size(),
          [](void* buffer) { delete static_cast<PooledBuffer*>(buffer); },
          owner);
    }
    grpc_slice_unref(headers);
    grpc::ByteBuffer(slices_.data(), slices_.size()).Swap(response_);
    slices_.clear();
  }

  // Nothing touches the call afterwards.
  void End(const absl::Status& status) {
    reactor_->Finish(record_->End(status, *context_));
  }

  void Recycle();

  const ServiceEnvironment& environment_;
  const MethodRecord& method_;
  ExecuteCallPool& pool_;

  // Of this call.
  grpc::CallbackServerContext* context_ = nullptr;
  grpc::ByteBuffer* response_ = nullptr;
  std::optional<ActiveCalls::Token> token_;
  std::optional<RequestRecord> record_;
  std::optional<Reactor> reactor_;
  std::atomic<bool> is_started_{false};
  Execution execution_;

  // Kept for the next one.
  ExecuteRequestReader request_;
  ExecuteEncoder encoder_;
  std::string execution_id_;
  std::vector<grpc::Slice> slices_;
};

// Calls that wait for their next use.
// Threading: thread-safe. Ownership: owns the waiting ones; outlives all calls.
class ExecuteCallPool {
 public:
  ExecuteCallPool(const MethodRecord& method, GraphFactsTable& facts)
      : method_(method), facts_(facts) {
    idle_.reserve(kMaxIdle);
  }

  ExecuteCall* Take() ABSL_LOCKS_EXCLUDED(mu_) {
    {
      absl::MutexLock lock(&mu_);
      if (!idle_.empty()) {
        ExecuteCall* call = idle_.back().release();
        idle_.pop_back();
        return call;
      }
    }
    return new ExecuteCall(method_, facts_, *this);
  }

  void Return(std::unique_ptr<ExecuteCall> call) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    if (idle_.size() < kMaxIdle) idle_.push_back(std::move(call));
  }

 private:
  // More calls than that at once are rare, and then allocate.
  static constexpr size_t kMaxIdle = 512;

  const MethodRecord& method_;
  GraphFactsTable& facts_;
  absl::Mutex mu_;
  std::vector<std::unique_ptr<ExecuteCall>> idle_ ABSL_GUARDED_BY(mu_);
};

void ExecuteCall::Recycle() {
  reactor_.reset();
  token_.reset();
  is_started_.store(false, std::memory_order_relaxed);
  execution_.graph.reset();
  execution_.compiled.reset();
  execution_.preparation.reset();
  execution_.inputs.clear();
  execution_.outputs.clear();
  execution_.wish = {};
  execution_.trace_capacity = 0;
  execution_.trace.reset();
  execution_.is_cancelled.store(false, std::memory_order_relaxed);
  execution_.status = absl::OkStatus();
  execution_.phase_ns.fill(0);
  encoder_.parts().clear();
  pool_.Return(std::unique_ptr<ExecuteCall>(this));
}

}  // namespace

RawService::UnaryHandler MakeExecuteHandler(const MethodRecord& method,
                                            GraphFactsTable& facts) {
  auto pool = std::make_shared<ExecuteCallPool>(method, facts);
  return [pool](grpc::CallbackServerContext* context,
                const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
    return pool->Take()->Begin(*context, *request, *response);
  };
}

}  // namespace tensord
