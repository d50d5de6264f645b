#include "clients/cpp/execution_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "clients/cpp/connection.h"
#include "clients/cpp/stream_reactor.h"

namespace tensord {

ExecutionStream::Reactor::Reactor(v1::ExecutionService::Stub& executions,
                                  const StreamOptions& options)
    : max_open_(options.max_open) {
  SetDeadline(context_, absl::Now() + options.timeout);
  executions.async()->ExecuteStream(&context_, this);
  // Send() starts writes outside of reactions.
  AddHold();
  StartRead(&response_);
  StartCall();
}

absl::Status ExecutionStream::Reactor::Send(v1::ExecuteRequest request,
                                            Callback done) {
  absl::MutexLock lock(&mu_);
  if (calling_thread_ != std::this_thread::get_id()) {
    mu_.Await(absl::Condition(this, &Reactor::HasRoom));
  }
  if (is_closing_) {
    return absl::FailedPreconditionError("the stream was closed");
  }
  if (is_broken_) {
    mu_.Await(absl::Condition(&has_status_));
    return status_.ok() ? absl::UnavailableError("the daemon ended the stream")
                        : status_;
  }
  std::string id = absl::StrCat(next_id_++);
  v1::ExecuteStreamRequest& message = waiting_.emplace_back();
  message.set_correlation_id(id);
  *message.mutable_request() = std::move(request);
  open_.emplace(std::move(id), std::move(done));
  WriteOn();
  return absl::OkStatus();
}

// Starting a write runs no reaction on this thread, so the lock may be held;
// without it the stream could end in between.
void ExecutionStream::Reactor::WriteOn() {
  if (is_writing_ || is_broken_) return;
  if (!waiting_.empty()) {
    writing_ = std::move(waiting_.front());
    waiting_.pop_front();
    is_writing_ = true;
    StartWrite(&writing_);
  } else if (is_closing_ && !is_half_closed_) {
    is_half_closed_ = true;
    StartWritesDone();
    ReleaseHold();
  }
}

void ExecutionStream::Reactor::OnWriteDone(bool ok) {
  absl::MutexLock lock(&mu_);
  is_writing_ = false;
  // After a write that failed the read does, too.
  if (ok) WriteOn();
}

void ExecutionStream::Reactor::OnReadDone(bool ok) {
  if (!ok) {
    absl::MutexLock lock(&mu_);
    is_broken_ = true;
    ReleaseHold();
    return;
  }
  Callback done;
  {
    absl::MutexLock lock(&mu_);
    const auto found = open_.find(response_.correlation_id());
    if (found != open_.end()) {
      done = std::move(found->second);
      open_.erase(found);
    }
    calling_thread_ = std::this_thread::get_id();
  }
  // An answer to nothing is not ours to judge; the stream goes on.
  if (done != nullptr && response_.has_response()) {
    std::move(done)(std::move(*response_.mutable_response()));
  } else if (done != nullptr) {
    const absl::Status status = StatusFromProto(response_.error());
    std::move(done)(status.ok() ? absl::InternalError("an answer without one")
                                : status);
  }
  done = nullptr;
  {
    absl::MutexLock lock(&mu_);
    calling_thread_ = std::thread::id();
  }
  StartRead(&response_);
}

void ExecutionStream::Reactor::OnDone(const grpc::Status& status) {
  absl::flat_hash_map<std::string, Callback> open;
  absl::Status reason;
  {
    absl::MutexLock lock(&mu_);
    is_broken_ = true;
    has_status_ = true;
    status_ = StatusFromGrpc(status);
    reason = status_.ok() ? absl::UnavailableError(
                                "the daemon ended the stream without an answer")
                          : status_;
    open.swap(open_);
  }
  for (auto& [id, done] : open) std::move(done)(reason);
  open.clear();
  absl::MutexLock lock(&mu_);
  is_done_ = true;
}

void ExecutionStream::Reactor::ReleaseHold() {
  if (!is_held_) return;
  is_held_ = false;
  RemoveHold();
}

void ExecutionStream::Reactor::CloseWrites() {
  absl::MutexLock lock(&mu_);
  is_closing_ = true;
  WriteOn();
}

absl::Status ExecutionStream::Reactor::AwaitEnd() {
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(&is_done_));
  return status_;
}

ExecutionStream::ExecutionStream(std::unique_ptr<Reactor> reactor)
    : reactor_(std::move(reactor)) {}

ExecutionStream::~ExecutionStream() {
  reactor_->Cancel();
  reactor_->CloseWrites();
  reactor_->AwaitEnd().IgnoreError();
}

absl::Status ExecutionStream::Send(v1::ExecuteRequest request, Callback done) {
  return reactor_->Send(std::move(request), std::move(done));
}

absl::StatusOr<v1::ExecuteResponse> ExecutionStream::Execute(
    v1::ExecuteRequest request) {
  absl::Notification is_answered;
  absl::StatusOr<v1::ExecuteResponse> answer;
  const absl::Status status = reactor_->Send(
      std::move(request), [&](absl::StatusOr<v1::ExecuteResponse> response) {
        answer = std::move(response);
        is_answered.Notify();
      });
  if (!status.ok()) return status;
  is_answered.WaitForNotification();
  return answer;
}

absl::Status ExecutionStream::Close() {
  reactor_->CloseWrites();
  return reactor_->AwaitEnd();
}

std::unique_ptr<ExecutionStream> Client::OpenStream(
    const StreamOptions& options) {
  return std::make_unique<ExecutionStream>(
      std::make_unique<ExecutionStream::Reactor>(*connection_->executions,
                                                 options));
}

}  // namespace tensord
