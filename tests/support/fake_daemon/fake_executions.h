#ifndef TENSORD_TESTS_SUPPORT_FAKE_DAEMON_FAKE_EXECUTIONS_H_
#define TENSORD_TESTS_SUPPORT_FAKE_DAEMON_FAKE_EXECUTIONS_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/sync_stream.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "tensord/v1/execution_service.grpc.pb.h"
#include "tests/support/fake_daemon/fake_sessions.h"

namespace tensord::testing {

// Runs that compute nothing, and end when a test says.
// Threading: thread-safe, but for the members that say how.
class FakeExecutions : public v1::ExecutionService::Service {
 public:
  // What a run gives, or why not.
  using Run = std::function<grpc::Status(const v1::ExecuteRequest&,
                                         v1::ExecuteResponse&)>;

  FakeExecutions(FakeBegin begin, Run run, int page_size)
      : begin_(std::move(begin)), run_(std::move(run)), page_size_(page_size) {}

  // Runs by handle are RUNNING until Finish() or CancelExecution().
  bool waits_for_finish = false;
  // ExecuteStream answers so many requests at once, the last one first. What is
  // left is answered at the end of requests.
  int stream_group = 1;
  // ExecuteStream ends with UNAVAILABLE after so many requests. 0: never.
  int break_stream_after = 0;

  grpc::Status Execute(grpc::ServerContext* context,
                       const v1::ExecuteRequest* request,
                       v1::ExecuteResponse* response) override;
  grpc::Status StartExecution(grpc::ServerContext* context,
                              const v1::ExecuteRequest* request,
                              v1::Execution* response) override;
  grpc::Status WaitExecution(grpc::ServerContext* context,
                             const v1::WaitExecutionRequest* request,
                             v1::WaitExecutionResponse* response) override;
  grpc::Status GetExecution(grpc::ServerContext* context,
                            const v1::GetExecutionRequest* request,
                            v1::Execution* response) override;
  grpc::Status CancelExecution(grpc::ServerContext* context,
                               const v1::CancelExecutionRequest* request,
                               v1::Execution* response) override;
  grpc::Status ListExecutions(grpc::ServerContext* context,
                              const v1::ListExecutionsRequest* request,
                              v1::ListExecutionsResponse* response) override;
  grpc::Status ExecuteStream(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::ExecuteStreamResponse,
                               v1::ExecuteStreamRequest>* stream) override;

  // Ends every run that is RUNNING.
  void Finish();

  // What came, in order, by whatever way.
  std::vector<v1::ExecuteRequest> requests() const;
  void AwaitWaiters(int count) const;

 private:
  struct Handle {
    v1::Execution execution;
    v1::ExecuteRequest request;
    v1::ExecuteResponse response;
  };

  void Record(const v1::ExecuteRequest& request);
  void End(Handle& handle) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const FakeBegin begin_;
  const Run run_;
  const int page_size_;
  mutable absl::Mutex mu_;
  std::vector<v1::ExecuteRequest> requests_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, Handle> handles_ ABSL_GUARDED_BY(mu_);
  int waiter_count_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace tensord::testing

#endif  // TENSORD_TESTS_SUPPORT_FAKE_DAEMON_FAKE_EXECUTIONS_H_
