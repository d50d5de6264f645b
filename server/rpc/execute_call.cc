#include "server/rpc/execute_call.h"

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/rpc/execute_run.h"

namespace tensord {
namespace {

class ExecuteCallPool;

// A call, used again for the next one.
//
// Threading: Begin() runs on gRPC's thread; the call ends where its run does.
class ExecuteCall {
 public:
  ExecuteCall(const MethodRecord& method, GraphFactsTable& facts,
              RecordedRuns& runs, ExecuteCallPool& pool)
      : method_(method),
        pool_(pool),
        run_(
            method.environment, facts, runs,
            [](ExecuteRun&, void* call) {
              static_cast<ExecuteCall*>(call)->OnRunDone();
            },
            this) {}

  grpc::ServerUnaryReactor* Begin(grpc::CallbackServerContext& context,
                                  const grpc::ByteBuffer& request,
                                  grpc::ByteBuffer& response) {
    context_ = &context;
    response_ = &response;
    token_.emplace(method_.environment.active_calls);
    record_.emplace(method_);
    // The caller gets what is there now: the call may end, and be used again,
    // before it returns.
    grpc::ServerUnaryReactor* reactor = &reactor_.emplace(*this);
    record_->AddRequestBytes(request.Length());
    run_.Begin(request, context, *record_);
    return reactor;
  }

 private:
  // gRPC's side of the call; a new one each time.
  class Reactor final : public grpc::ServerUnaryReactor {
   public:
    explicit Reactor(ExecuteCall& call) : call_(call) {}
    void OnCancel() override { call_.run_.Cancel(); }
    void OnDone() override { call_.Recycle(); }

   private:
    // Both are short and block nothing, so gRPC may call them where it is
    // instead of waking another thread: as its own default reactor does it.
    bool InternalInlineable() override { return true; }

    ExecuteCall& call_;
  };

  // Nothing touches the call afterwards.
  void OnRunDone() {
    if (run_.status().ok()) {
      run_.TakeAnswer(slices_);
      grpc::ByteBuffer(slices_.data(), slices_.size()).Swap(response_);
      slices_.clear();
    }
    reactor_->Finish(record_->End(run_.status(), *context_));
  }

  void Recycle();

  const MethodRecord& method_;
  ExecuteCallPool& pool_;

  // Of this call.
  grpc::CallbackServerContext* context_ = nullptr;
  grpc::ByteBuffer* response_ = nullptr;
  std::optional<ActiveCalls::Token> token_;
  std::optional<RequestRecord> record_;
  std::optional<Reactor> reactor_;

  // Kept for the next one.
  ExecuteRun run_;
  std::vector<grpc::Slice> slices_;
};

// Calls that wait for their next use.
// Threading: thread-safe. Ownership: owns the waiting ones; outlives all calls.
class ExecuteCallPool {
 public:
  ExecuteCallPool(const MethodRecord& method, GraphFactsTable& facts,
                  RecordedRuns& runs)
      : method_(method), facts_(facts), runs_(runs) {
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
    return new ExecuteCall(method_, facts_, runs_, *this);
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
  RecordedRuns& runs_;
  absl::Mutex mu_;
  std::vector<std::unique_ptr<ExecuteCall>> idle_ ABSL_GUARDED_BY(mu_);
};

void ExecuteCall::Recycle() {
  reactor_.reset();
  token_.reset();
  run_.Reset();
  pool_.Return(std::unique_ptr<ExecuteCall>(this));
}

}  // namespace

RawService::UnaryHandler MakeExecuteHandler(const MethodRecord& method,
                                            GraphFactsTable& facts,
                                            RecordedRuns& runs) {
  auto pool = std::make_shared<ExecuteCallPool>(method, facts, runs);
  return [pool](grpc::CallbackServerContext* context,
                const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
    return pool->Take()->Begin(*context, *request, *response);
  };
}

}  // namespace tensord
