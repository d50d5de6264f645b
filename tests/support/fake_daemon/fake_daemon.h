#ifndef TENSORD_TESTS_SUPPORT_FAKE_DAEMON_FAKE_DAEMON_H_
#define TENSORD_TESTS_SUPPORT_FAKE_DAEMON_FAKE_DAEMON_H_

#include <grpcpp/server.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "google/rpc/status.pb.h"
#include "tensord/v1/device_service.grpc.pb.h"
#include "tensord/v1/graph_service.grpc.pb.h"
#include "tensord/v1/profile_service.grpc.pb.h"
#include "tests/support/fake_daemon/fake_executions.h"
#include "tests/support/fake_daemon/fake_sessions.h"
#include "tests/support/fake_daemon/fake_tensors.h"

namespace tensord::testing {

// A gRPC server, on a free port of this machine, that answers as it is told.
// For what the real daemon does not do on demand: every error with its details,
// pages of one element, answers with every field set. It computes nothing.
//
// Threading: the answers are set before the first call, or between calls by the
//   thread that makes them.
class FakeDaemon {
 public:
  struct Options {
    int max_message_bytes = 64 << 20;
    // Elements in one page of a list, whatever the request says.
    int page_size = 1000;
  };

  FakeDaemon() : FakeDaemon(Options{}) {}
  explicit FakeDaemon(Options options);
  ~FakeDaemon();

  const std::string& address() const { return address_; }

  // What every submission is told to be, with its own graph_id.
  v1::GraphInfo graph;
  // By default each output is the input of its index, under its own name.
  std::function<void(const v1::ExecuteRequest&, v1::ExecuteResponse&)> execute;
  v1::ExplainGraphResponse explanation;
  v1::ListDevicesResponse devices;
  std::vector<v1::Kernel> kernels;
  v1::OpProfile profile;
  v1::OpProfileConfig profile_config;
  // What WatchOpProfile sends, then it ends.
  std::vector<v1::OpProfile> watched;
  // If its code is not OK, the answer to every call, or to so many.
  google::rpc::Status failure;
  mutable std::atomic<int> failing_calls{-1};
  // Calls are held back until their deadline.
  bool is_silent = false;
  // Runs of graphs that were not submitted are NOT_FOUND.
  bool knows_only_submitted = false;
  void ForgetGraphs();
  // And none is ever held.
  bool forgets_at_once = false;

  // The services that keep something.
  FakeExecutions runs;
  FakeSessions sessions;
  FakeTensors tensors;

  // What came, in order.
  struct Submission {
    std::string bytes;
    bool by_upload = false;
    v1::GraphFormat format = v1::GRAPH_FORMAT_UNSPECIFIED;
    v1::CompileOptions options;
  };
  std::vector<Submission> submissions() const;
  std::vector<v1::ExecuteRequest> executions() const { return runs.requests(); }
  std::vector<v1::ExplainGraphRequest> explain_requests() const;
  std::vector<v1::GetOpProfileRequest> profile_requests() const;
  int64_t page_count() const;
  // Of all calls that came, in their order; "" for one that sent none.
  std::vector<std::string> traceparents() const;

 private:
  class Graphs;
  class Devices;
  class Profile;

  // OK, or the failure that was asked for.
  grpc::Status Begin(grpc::ServerContext& context) const;
  grpc::Status Run(const v1::ExecuteRequest& request,
                   v1::ExecuteResponse& response) const;
  std::string Record(Submission submission);

  const Options options_;
  std::string address_;
  mutable absl::Mutex mu_;
  std::vector<Submission> submissions_ ABSL_GUARDED_BY(mu_);
  std::vector<v1::GraphInfo> held_ ABSL_GUARDED_BY(mu_);
  std::vector<v1::ExplainGraphRequest> explain_requests_ ABSL_GUARDED_BY(mu_);
  std::vector<v1::GetOpProfileRequest> profile_requests_ ABSL_GUARDED_BY(mu_);
  int64_t page_count_ ABSL_GUARDED_BY(mu_) = 0;
  mutable std::vector<std::string> traceparents_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<Graphs> graphs_;
  std::unique_ptr<Devices> device_service_;
  std::unique_ptr<Profile> profile_service_;
  std::unique_ptr<grpc::Server> server_;
};

// An error as a daemon sends it, with one detail or none.
google::rpc::Status Error(int code, const std::string& message);
google::rpc::Status Error(int code, const std::string& message,
                          const google::protobuf::Message& detail);

}  // namespace tensord::testing

#endif  // TENSORD_TESTS_SUPPORT_FAKE_DAEMON_FAKE_DAEMON_H_
