#include "clients/cpp/session.h"

#include <algorithm>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "clients/cpp/durations.h"

namespace tensord {
namespace {

// How long the destructor tries to close a session at a daemon that may be
// gone.
constexpr absl::Duration kCloseTimeout = absl::Seconds(2);

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> Session::Open(
    Client& client, const SessionOptions& options) {
  v1::CreateSessionRequest request;
  request.set_display_name(options.display_name);
  if (options.time_to_live > absl::ZeroDuration()) {
    *request.mutable_time_to_live() = ToProto(options.time_to_live);
  }
  const auto session = client.CreateSession(request);
  if (!session.ok()) return session.status();
  return absl::WrapUnique(new Session(client, *session));
}

// Two of three calls in a time to live may be lost.
Session::Session(Client& client, const v1::Session& session)
    : client_(client),
      id_(session.session_id()),
      period_(std::max(FromProto(session.time_to_live()) / 3,
                       absl::Milliseconds(10))),
      thread_([this] { KeepAlive(); }) {}

Session::~Session() {
  // Errors: it is closed already, or its time to live will do it.
  Close({.timeout = kCloseTimeout, .max_attempts = 1}).IgnoreError();
}

absl::Status Session::status() const {
  absl::MutexLock lock(&mu_);
  return status_;
}

absl::StatusOr<v1::CloseSessionResponse> Session::Close(
    const CallOptions& call) {
  {
    absl::MutexLock lock(&mu_);
    if (is_ending_) {
      return absl::FailedPreconditionError(
          absl::StrCat("session ", id_, " was closed before"));
    }
    is_ending_ = true;
  }
  thread_.join();
  return client_.CloseSession(id_, call);
}

void Session::KeepAlive() {
  while (!WaitForEnd(period_)) {
    const auto session =
        client_.KeepAlive(id_, {.timeout = period_, .max_attempts = 1});
    const bool is_gone = absl::IsNotFound(session.status()) ||
                         absl::IsFailedPrecondition(session.status());
    if (!is_gone) continue;
    absl::MutexLock lock(&mu_);
    status_ = session.status();
    return;
  }
}

bool Session::WaitForEnd(absl::Duration period) {
  absl::MutexLock lock(&mu_);
  return mu_.AwaitWithTimeout(absl::Condition(&is_ending_), period);
}

}  // namespace tensord
