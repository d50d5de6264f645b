// Clients that start, wait, cancel, upload, stream and vanish, in random order
// and at once. Some vanish with their connection and leave a session with all
// it holds. TENSORD_STORM sets how many rounds there are in all.

#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/server/serving/serving_test.h"
#include "tests/support/resource_gauge.h"

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
    // Those who vanish leave theirs.
    config_.max_sessions = 100'000;
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

  // So many clients at once, who make so many rounds in all.
  void Storm(int client_count, int rounds);

  std::string graph_id_, slow_id_;
};

// One client, with a connection and most of the time a session of its own.
class Client {
 public:
  Client(std::string address, std::string fast, std::string slow, uint64_t seed)
      : address_(std::move(address)),
        fast_(std::move(fast)),
        slow_(std::move(slow)),
        random_(seed) {}

  void Round() {
    if (executions_ == nullptr) Open();
    switch (random_() % 9) {
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
      case 8:
        if (random_() % 2 == 0) Vanish();
        break;
    }
  }

  void Close() {
    if (session_.empty()) return Disconnect();
    grpc::ClientContext context;
    v1::CloseSessionRequest request;
    request.set_session_id(session_);
    request.set_allow_missing(true);
    v1::CloseSessionResponse response;
    EXPECT_TRUE(sessions_->CloseSession(&context, request, &response).ok());
    Disconnect();
  }

 private:
  void Open() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto channel = grpc::CreateCustomChannel(
        address_, grpc::InsecureChannelCredentials(), arguments);
    executions_ = v1::ExecutionService::NewStub(channel);
    sessions_ = v1::SessionService::NewStub(channel);
    tensors_ = v1::TensorService::NewStub(channel);
    // Else it is the connection's.
    if (random_() % 4 == 0) return;
    grpc::ClientContext context;
    v1::Session session;
    EXPECT_TRUE(
        sessions_->CreateSession(&context, v1::CreateSessionRequest(), &session)
            .ok());
    session_ = session.session_id();
  }

  void Disconnect() {
    executions_.reset();
    sessions_.reset();
    tensors_.reset();
    session_.clear();
    tensor_.clear();
  }

  // In the middle of a run, of a stream and of an upload, with a wait left
  // unanswered.
  void Vanish() {
    grpc::CompletionQueue answers;
    const int call_count = 2 + !run_.empty();
    grpc::ClientContext run_context, stream_context, wait_context;
    v1::ExecuteResponse response;
    grpc::Status run_status, wait_status;
    const auto run =
        executions_->AsyncExecute(&run_context, Request(), &answers);
    run->Finish(&response, &run_status, &run_context);
    v1::WaitExecutionResponse waited;
    std::unique_ptr<grpc::ClientAsyncResponseReader<v1::WaitExecutionResponse>>
        wait;
    if (!run_.empty()) {
      v1::WaitExecutionRequest request;
      request.set_execution_id(run_);
      request.mutable_timeout()->set_seconds(60);
      wait = executions_->AsyncWaitExecution(&wait_context, request, &answers);
      wait->Finish(&waited, &wait_status, &wait_context);
    }
    auto stream = executions_->ExecuteStream(&stream_context);
    v1::ExecuteStreamRequest request;
    *request.mutable_request() = Request();
    stream->Write(request);
    for (grpc::ClientContext* context :
         {&run_context, &stream_context, &wait_context}) {
      context->TryCancel();
    }
    Disconnect();
    Note(stream->Finish());
    void* tag;
    bool ok;
    for (int i = 1; i < call_count; ++i) answers.Next(&tag, &ok);
    answers.Shutdown();
    Note(run_status);
    Note(wait_status);
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

  const std::string address_, fast_, slow_;
  std::unique_ptr<v1::ExecutionService::Stub> executions_;
  std::unique_ptr<v1::SessionService::Stub> sessions_;
  std::unique_ptr<v1::TensorService::Stub> tensors_;
  std::mt19937_64 random_;
  std::string session_, run_, tensor_;
};

void StormTest::Storm(int client_count, int rounds) {
  std::vector<std::thread> threads;
  for (int c = 0; c < client_count; ++c) {
    threads.emplace_back([&, c] {
      Client client(server_->addresses()[0], graph_id_, slow_id_,
                    static_cast<uint64_t>(c) + 1);
      for (int i = 0; i < rounds / client_count; ++i) client.Round();
      client.Close();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// What is left of this when there were ten clients or a thousand.
void ExpectNoMore(int64_t (*count)(), int64_t at_most) {
  const absl::Time deadline = absl::Now() + absl::Seconds(30);
  while (count() > at_most && absl::Now() < deadline) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_LE(count(), at_most);
}

TEST_F(StormTest, NothingIsLeftBehind) {
  constexpr int kClients = 4;
  // gRPC begins threads when it first has much to do, each with a descriptor to
  // wake it, and keeps them.
  constexpr int kWarmUpRounds = 100;
  constexpr int kThreadsOfGrpc = 8;
  Storm(kClients, kWarmUpRounds);
  const int64_t files = OpenFileCount();
  const int64_t own_threads = ThreadCount();
  const char* asked = std::getenv("TENSORD_STORM");
  Storm(kClients, asked != nullptr ? std::atoi(asked) : 500);
  ExpectNothingOpen();
  holdings_->Sweep(absl::InfiniteFuture());
  EXPECT_EQ(holdings_->sessions.count(), 0);
  EXPECT_EQ(holdings_->tensors.count(), 0);
  EXPECT_EQ(holdings_->executions.count(), 0);
  EXPECT_EQ(holdings_->executions.result_bytes(), 0u);
  EXPECT_EQ(holdings_->sessions.resident_bytes().count(), 0u);
  EXPECT_EQ(engine_->buffers().loaned_bytes(), 0u);
  ExpectNoMore(&OpenFileCount, files + kThreadsOfGrpc);
  ExpectNoMore(&ThreadCount, own_threads + kThreadsOfGrpc);
  // And it still works.
  v1::ExecuteResponse response;
  EXPECT_TRUE(Execute(IdentityRequest(graph_id_, "cpu:0"), response).ok());
}

}  // namespace
}  // namespace tensord
