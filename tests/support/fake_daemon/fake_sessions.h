#ifndef TENSORD_TESTS_SUPPORT_FAKE_DAEMON_FAKE_SESSIONS_H_
#define TENSORD_TESTS_SUPPORT_FAKE_DAEMON_FAKE_SESSIONS_H_

#include <grpcpp/server_context.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "tensord/v1/session_service.grpc.pb.h"

namespace tensord::testing {

// What a call begins with: OK, or the failure that its daemon was told.
using FakeBegin = std::function<grpc::Status(grpc::ServerContext&)>;

// NOT_FOUND as the daemon says it, with ResourceInfo.
grpc::Status FakeNotFound(const std::string& type, const std::string& name);

// Sessions that only a test ends.
// Threading: thread-safe.
class FakeSessions : public v1::SessionService::Service {
 public:
  explicit FakeSessions(FakeBegin begin) : begin_(std::move(begin)) {}

  grpc::Status CreateSession(grpc::ServerContext* context,
                             const v1::CreateSessionRequest* request,
                             v1::Session* response) override;
  grpc::Status KeepAlive(grpc::ServerContext* context,
                         const v1::KeepAliveRequest* request,
                         v1::Session* response) override;
  grpc::Status CloseSession(grpc::ServerContext* context,
                            const v1::CloseSessionRequest* request,
                            v1::CloseSessionResponse* response) override;

  // As if their time to live had passed.
  void ExpireAll();

  std::vector<v1::CreateSessionRequest> creations() const;
  std::vector<std::string> closed() const;
  size_t open_count() const;
  void AwaitKeepAlives(int count) const;

 private:
  const FakeBegin begin_;
  mutable absl::Mutex mu_;
  std::map<std::string, v1::Session> open_ ABSL_GUARDED_BY(mu_);
  std::vector<v1::CreateSessionRequest> creations_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> closed_ ABSL_GUARDED_BY(mu_);
  int keep_alive_count_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace tensord::testing

#endif  // TENSORD_TESTS_SUPPORT_FAKE_DAEMON_FAKE_SESSIONS_H_
