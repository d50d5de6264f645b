#include "tests/support/fake_daemon/fake_sessions.h"

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace tensord::testing {

grpc::Status FakeNotFound(const std::string& type, const std::string& name) {
  google::rpc::ResourceInfo info;
  info.set_resource_type(type);
  info.set_resource_name(name);
  const std::string text = absl::StrCat("there is no ", type, " '", name, "'");
  google::rpc::Status status;
  status.set_code(grpc::StatusCode::NOT_FOUND);
  status.set_message(text);
  status.add_details()->PackFrom(info);
  return {grpc::StatusCode::NOT_FOUND, text, status.SerializeAsString()};
}

grpc::Status FakeSessions::CreateSession(
    grpc::ServerContext* context, const v1::CreateSessionRequest* request,
    v1::Session* response) {
  const grpc::Status status = begin_(*context);
  if (!status.ok()) return status;
  absl::MutexLock lock(&mu_);
  creations_.push_back(*request);
  response->set_session_id(absl::StrCat("fake.session", creations_.size()));
  response->set_display_name(request->display_name());
  *response->mutable_time_to_live() = request->time_to_live();
  if (!request->has_time_to_live()) {
    response->mutable_time_to_live()->set_seconds(600);
  }
  open_[response->session_id()] = *response;
  return grpc::Status::OK;
}

grpc::Status FakeSessions::KeepAlive(grpc::ServerContext* context,
                                     const v1::KeepAliveRequest* request,
                                     v1::Session* response) {
  const grpc::Status status = begin_(*context);
  if (!status.ok()) return status;
  absl::MutexLock lock(&mu_);
  ++keep_alive_count_;
  const auto found = open_.find(request->session_id());
  if (found == open_.end()) {
    return FakeNotFound("session", request->session_id());
  }
  *response = found->second;
  return grpc::Status::OK;
}

grpc::Status FakeSessions::CloseSession(grpc::ServerContext* context,
                                        const v1::CloseSessionRequest* request,
                                        v1::CloseSessionResponse* response) {
  const grpc::Status status = begin_(*context);
  if (!status.ok()) return status;
  absl::MutexLock lock(&mu_);
  if (open_.erase(request->session_id()) == 0) {
    return request->allow_missing()
               ? grpc::Status::OK
               : FakeNotFound("session", request->session_id());
  }
  closed_.push_back(request->session_id());
  response->set_freed_tensor_count(2);
  response->set_freed_bytes(3 << 20);
  response->set_cancelled_execution_count(1);
  return grpc::Status::OK;
}

void FakeSessions::ExpireAll() {
  absl::MutexLock lock(&mu_);
  open_.clear();
}

std::vector<v1::CreateSessionRequest> FakeSessions::creations() const {
  absl::MutexLock lock(&mu_);
  return creations_;
}

std::vector<std::string> FakeSessions::closed() const {
  absl::MutexLock lock(&mu_);
  return closed_;
}

size_t FakeSessions::open_count() const {
  absl::MutexLock lock(&mu_);
  return open_.size();
}

void FakeSessions::AwaitKeepAlives(int count) const {
  absl::MutexLock lock(&mu_);
  const auto has_come = [this, count] {
    mu_.AssertHeld();
    return keep_alive_count_ >= count;
  };
  mu_.Await(absl::Condition(&has_come));
}

}  // namespace tensord::testing
