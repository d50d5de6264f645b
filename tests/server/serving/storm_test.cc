// Clients that start, wait, cancel, upload, stream and vanish, in random order
// and at once. TENSORD_STORM sets how many rounds there are in all.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/server/serving/serving_test.h"

namespace tensord {
namespace {

class StormTest : public ServingTest {
 protected:
  StormTest() {
    config_.device_names = {"cpu:0", "null:0"};
    config_.engine.max_queue_length = 8;
    config_.max_session_executions = 16;
    config_.max_session_bytes = 4096;
    config_.max_result_bytes = 2048;
    config_.max_ended_executions = 64;
    config_.max_stream_executions = 4;
    // Half of the runs go through the queue.
    config_.engine.lanes_per_device = 1;
    config_.log_level = LogSeverity::kWarning;
  }

  void SetUp() override {
    ServingTest::SetUp();
    graph_id_ = Submit(ReluGraph());
    slow_id_ = Submit(SlowGraph());
    v1::ExecuteResponse response;
    ASSERT_TRUE(Execute(IdentityRequest(graph_id_, "cpu:0"), response).ok());
    ASSERT_TRUE(Execute(IdentityRequest(slow_id_, "cpu:0"), response).ok());
  }

  // Enough nodes to be no matter for the request's thread.
  static v1::Graph SlowGraph() {
    v1::Graph graph = ReluGraph();
    graph.set_name("slow");
    graph.mutable_nodes(0)->set_op("Expand");
    graph.mutable_nodes(0)->add_inputs("shape");
    graph.mutable_nodes(0)->set_outputs(0, "large");
    v1::Initializer& shape = *graph.add_initializers();
    shape.set_name("shape");
    shape.mutable_tensor()->set_dtype(v1::DTYPE_INT64);
    shape.mutable_tensor()->add_dims(2);
    const int64_t extents[] = {1 << 15, 2};
    shape.mutable_tensor()->set_data(extents, sizeof(extents));
    v1::Node& node = *graph.add_nodes();
    node.set_op("ReduceSum");
    node.add_inputs("large");
    node.add_inputs("axes");
    node.add_outputs("y");
    v1::Initializer& axes = *graph.add_initializers();
    axes.set_name("axes");
    axes.mutable_tensor()->set_dtype(v1::DTYPE_INT64);
    axes.mutable_tensor()->add_dims(1);
    const int64_t axis = 0;
    axes.mutable_tensor()->set_data(&axis, sizeof(axis));
    return graph;
  }

  std::string graph_id_, slow_id_;
};

// One client with a session of its own.
class Client {
 public:
  Client(const std::shared_ptr<grpc::Channel>& channel, std::string fast,
         std::string slow, uint64_t seed)
      : executions_(v1::ExecutionService::NewStub(channel)),
        sessions_(v1::SessionService::NewStub(channel)),
        tensors_(v1::TensorService::NewStub(channel)),
        fast_(std::move(fast)),
        slow_(std::move(slow)),
        random_(seed) {}

  void Round() {
    if (session_.empty()) Open();
    switch (random_() % 8) {
      case 0:
      case 1:
        Start();
        break;
      case 2:
        Wait();
        break;
      case 3:
        Cancel();
        break;
      case 4:
        ExecuteAndPerhapsVanish();
        break;
      case 5:
        Upload();
        break;
      case 6:
        Stream();
        break;
      case 7:
        if (random_() % 4 == 0) Close();
        break;
    }
  }

  void Close() {
    grpc::ClientContext context;
    v1::CloseSessionRequest request;
    request.set_session_id(session_);
    request.set_allow_missing(true);
    v1::CloseSessionResponse response;
    EXPECT_TRUE(sessions_->CloseSession(&context, request, &response).ok());
    session_.clear();
    tensor_.clear();
  }

 private:
  void Open() {
    grpc::ClientContext context;
    v1::Session session;
    EXPECT_TRUE(
        sessions_->CreateSession(&context, v1::CreateSessionRequest(), &session)
            .ok());
    session_ = session.session_id();
  }

  v1::ExecuteRequest Request() {
    v1::ExecuteRequest request;
    request.set_graph_id(random_() % 2 == 0 ? fast_ : slow_);
    request.mutable_options()->set_session_id(session_);
    if (random_() % 3 == 0) {
      request.mutable_options()->set_request_id(absl::StrCat(random_() % 4));
    }
    v1::ExecuteInput& input = *request.add_inputs();
    input.set_name("x");
    if (!tensor_.empty() && random_() % 2 == 0) {
      input.set_tensor_id(tensor_);
      input.set_donate(random_() % 2 == 0);
    } else {
      input.mutable_tensor()->set_dtype(v1::DTYPE_FLOAT32);
      input.mutable_tensor()->add_dims(2);
      input.mutable_tensor()->set_data("12345678");
    }
    if (random_() % 2 == 0) {
      v1::RequestedOutput& output = *request.add_outputs();
      output.set_name("y");
      output.set_keep_on_device(true);
    }
    return request;
  }

  void Note(const grpc::Status& status) {
    // Everything else would be a fault of the daemon's.
    switch (status.error_code()) {
      case grpc::StatusCode::OK:
      case grpc::StatusCode::CANCELLED:
      case grpc::StatusCode::DEADLINE_EXCEEDED:
      case grpc::StatusCode::NOT_FOUND:
      case grpc::StatusCode::INVALID_ARGUMENT:  // REQUEST_ID_REUSED
      case grpc::StatusCode::FAILED_PRECONDITION:
      case grpc::StatusCode::RESOURCE_EXHAUSTED:
        return;
      default:
        ADD_FAILURE() << status.error_code() << ": " << status.error_message();
    }
  }

  void Start() {
    grpc::ClientContext context;
    v1::Execution execution;
    const grpc::Status status =
        executions_->StartExecution(&context, Request(), &execution);
    Note(status);
    if (status.ok()) run_ = execution.execution_id();
  }

  void Wait() {
    if (run_.empty()) return;
    grpc::ClientContext context;
    if (random_() % 2 == 0) {
      context.set_deadline(std::chrono::system_clock::now() +
                           std::chrono::microseconds(random_() % 3000));
    }
    v1::WaitExecutionRequest request;
    request.set_execution_id(run_);
    request.mutable_timeout()->set_nanos(
        static_cast<int>(random_() % 3'000'000));
    v1::WaitExecutionResponse response;
    Note(executions_->WaitExecution(&context, request, &response));
  }

  void Cancel() {
    if (run_.empty()) return;
    grpc::ClientContext context;
    v1::CancelExecutionRequest request;
    request.set_execution_id(run_);
    v1::Execution execution;
    Note(executions_->CancelExecution(&context, request, &execution));
  }

  void ExecuteAndPerhapsVanish() {
    grpc::ClientContext context;
    if (random_() % 2 == 0) {
      context.set_deadline(std::chrono::system_clock::now() +
                           std::chrono::microseconds(random_() % 2000));
    }
    v1::ExecuteResponse response;
    Note(executions_->Execute(&context, Request(), &response));
    if (response.outputs_size() > 0 && response.outputs(0).has_handle()) {
      tensor_ = response.outputs(0).handle().tensor_id();
    }
  }

  void Upload() {
    grpc::ClientContext context;
    v1::TensorInfo info;
    auto writer = tensors_->UploadTensor(&context, &info);
    v1::UploadTensorRequest request;
    request.mutable_header()->set_session_id(session_);
    request.mutable_header()->set_dtype(v1::DTYPE_FLOAT32);
    request.mutable_header()->add_dims(2);
    if (random_() % 2 == 0) {
      request.mutable_header()->set_upload_id(absl::StrCat(random_() % 100));
    }
    writer->Write(request);
    request.set_chunk("1234");
    writer->Write(request);
    if (random_() % 3 == 0) {
      context.TryCancel();
    } else {
      writer->Write(request);
      writer->WritesDone();
    }
    const grpc::Status status = writer->Finish();
    Note(status);
    if (status.ok()) tensor_ = info.tensor_id();
  }

  void Stream() {
    grpc::ClientContext context;
    auto stream = executions_->ExecuteStream(&context);
    const int count = static_cast<int>(random_() % 12);
    v1::ExecuteStreamRequest request;
    for (int i = 0; i < count; ++i) {
      *request.mutable_request() = Request();
      if (!stream->Write(request)) break;
    }
    v1::ExecuteStreamResponse response;
    if (random_() % 3 == 0) {
      if (count > 0) stream->Read(&response);
      context.TryCancel();
    } else {
      stream->WritesDone();
      int answers = 0;
      while (stream->Read(&response)) ++answers;
      EXPECT_EQ(answers, count);
    }
    Note(stream->Finish());
  }

  const std::unique_ptr<v1::ExecutionService::Stub> executions_;
  const std::unique_ptr<v1::SessionService::Stub> sessions_;
  const std::unique_ptr<v1::TensorService::Stub> tensors_;
  const std::string fast_, slow_;
  std::mt19937_64 random_;
  std::string session_, run_, tensor_;
};

TEST_F(StormTest, NothingIsLeftBehind) {
  constexpr int kClients = 4;
  const char* asked = std::getenv("TENSORD_STORM");
  const int rounds = (asked != nullptr ? std::atoi(asked) : 500) / kClients;
  std::vector<std::thread> threads;
  for (int c = 0; c < kClients; ++c) {
    threads.emplace_back([&, c] {
      Client client(channel_, graph_id_, slow_id_,
                    static_cast<uint64_t>(c) + 1);
      for (int i = 0; i < rounds; ++i) client.Round();
      client.Close();
    });
  }
  for (std::thread& thread : threads) thread.join();
  ExpectNothingOpen();
  holdings_->Sweep(absl::InfiniteFuture());
  EXPECT_EQ(holdings_->sessions.count(), 0);
  EXPECT_EQ(holdings_->tensors.count(), 0);
  EXPECT_EQ(holdings_->executions.count(), 0);
  EXPECT_EQ(holdings_->executions.result_bytes(), 0u);
  EXPECT_EQ(holdings_->sessions.resident_bytes().count(), 0u);
  EXPECT_EQ(engine_->buffers().loaned_bytes(), 0u);
  // And it still works.
  v1::ExecuteResponse response;
  EXPECT_TRUE(Execute(IdentityRequest(graph_id_, "cpu:0"), response).ok());
}

}  // namespace
}  // namespace tensord
