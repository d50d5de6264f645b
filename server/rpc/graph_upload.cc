#include "server/rpc/graph_upload.h"

#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "server/rpc/byte_budget.h"
#include "server/rpc/idle_watch.h"
#include "server/rpc/message_io.h"
#include "server/rpc/principal.h"
#include "server/rpc/request_record.h"
#include "server/rpc/upload_content.h"
#include "tensord/v1/graph_service.pb.h"

namespace tensord {
namespace {

// One stream. Reactions come one after another but for OnCancel; what this
// shares with the others is under the lock, which is never held when
// gRPC is called.
class GraphUpload final : public grpc::ServerReadReactor<grpc::ByteBuffer>,
                          public std::enable_shared_from_this<GraphUpload> {
 public:
  GraphUpload(const MethodRecord& method, GraphSubmitter& submitter,
              ByteBudget& budget, grpc::CallbackServerContext& context,
              grpc::ByteBuffer& response)
      : environment_(method.environment),
        submitter_(submitter),
        budget_(budget),
        context_(context),
        response_(response),
        token_(method.environment.active_calls),
        record_(method),
        content_(method.environment.config) {}

  static GraphUpload* Start(std::shared_ptr<GraphUpload> upload) {
    GraphUpload* reactor = upload.get();
    reactor->self_ = std::move(upload);
    reactor->StartRead(&reactor->message_);
    return reactor;
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      Complete();
      return;
    }
    record_.AddRequestBytes(message_.Length());
    const bool had_header = content_.header().has_value();
    idle_.NoteProgress();
    const absl::Status status = content_.Take(message_);
    message_.Clear();
    if (!status.ok()) {
      End(status);
    } else if (!had_header && content_.header().has_value()) {
      TakeHeader(*content_.header());
    } else {
      StartRead(&message_);
    }
  }

  void OnCancel() override {
    {
      absl::MutexLock lock(&mu_);
      if (wait_ != Wait::kWaiting) return;  // a read fails and ends the call,
      wait_ = Wait::kNone;                  // or AwaitBudget() sees it
    }
    End(absl::CancelledError("the client left while it waited for memory"));
  }

  void OnDone() override { self_.reset(); }

 private:
  // For the budget: kAsking until it has the request.
  enum class Wait : uint8_t { kNone, kAsking, kWaiting };

  void TakeHeader(const v1::UploadGraphHeader& header) {
    absl::Status status = submitter_.CheckOptions(header.options());
    if (!status.ok()) {
      End(status);
      return;
    }
    // A graph that this principal holds need not be sent again.
    absl::StatusOr<v1::SubmitGraphResponse> held = submitter_.FindHeld(
        GraphIdOf(header.format(), content_.declared(), header.options()),
        PrincipalOf(context_));
    if (held.ok()) {
      Answer(std::move(held));
    } else {
      AwaitBudget(static_cast<uint64_t>(header.size_bytes()));
    }
  }

  void AwaitBudget(uint64_t bytes) {
    {
      absl::MutexLock lock(&mu_);
      wait_ = Wait::kAsking;
    }
    // The call may be over, and gone, when its turn comes.
    budget_.Request(bytes, claim_, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->ReadOn();
    });
    {
      absl::MutexLock lock(&mu_);
      if (wait_ == Wait::kAsking) wait_ = Wait::kWaiting;
    }
    if (context_.IsCancelled()) OnCancel();
  }

  void ReadOn() {
    {
      absl::MutexLock lock(&mu_);
      if (wait_ == Wait::kNone) return;
      wait_ = Wait::kNone;
    }
    if (absl::Status status = content_.Reserve(); !status.ok()) {
      End(status);
      return;
    }
    idle_.Start(environment_.config.upload_idle_timeout);
    StartRead(&message_);
  }

  // The client has sent its last chunk, or has gone.
  void Complete() {
    if (context_.IsCancelled()) {
      End(absl::CancelledError(
          "the client left, or sent nothing for too long, in the middle of an "
          "upload"));
      return;
    }
    const absl::Status status = content_.CheckComplete();
    if (!status.ok()) {
      End(status);
      return;
    }
    GraphSubmitter::Received received;
    received.format = content_.header()->format();
    received.bytes = content_.TakeBytes();
    received.digest = content_.declared();
    received.options = content_.header()->options();
    received.principal = std::string(PrincipalOf(context_));
    idle_.Suspend();
    submitter_.Submit(std::move(received),
                      [this](absl::StatusOr<v1::SubmitGraphResponse> response) {
                        Answer(std::move(response));
                      });
  }

  void Answer(absl::StatusOr<v1::SubmitGraphResponse> response) {
    End(response.ok()
            ? SerializeMessage(*response, environment_.config.max_message_bytes,
                               response_)
            : response.status());
  }

  // Once. Nothing touches the call afterwards, but for the watch until it has
  // stopped: then it finishes the call.
  void End(const absl::Status& status) {
    content_.TakeBytes();
    claim_.Release();
    idle_.Stop([this, end = record_.End(status, context_)] { Finish(end); });
  }

  const ServiceEnvironment& environment_;
  GraphSubmitter& submitter_;
  ByteBudget& budget_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& response_;
  const ActiveCalls::Token token_;
  RequestRecord record_;
  std::shared_ptr<GraphUpload> self_;  // until gRPC is done with it

  grpc::ByteBuffer message_;
  UploadContent content_;
  ByteBudget::Claim claim_;
  IdleWatch idle_{[this] { context_.TryCancel(); }};

  absl::Mutex mu_;
  Wait wait_ ABSL_GUARDED_BY(mu_) = Wait::kNone;
};

}  // namespace

RawService::ReadHandler MakeUploadHandler(const MethodRecord& method,
                                          GraphSubmitter& submitter) {
  auto budget = std::make_shared<ByteBudget>(
      static_cast<uint64_t>(method.environment.config.upload_budget_bytes));
  return [&method, &submitter, budget](grpc::CallbackServerContext* context,
                                       grpc::ByteBuffer* response) {
    return GraphUpload::Start(std::make_shared<GraphUpload>(
        method, submitter, *budget, *context, *response));
  };
}

}  // namespace tensord
