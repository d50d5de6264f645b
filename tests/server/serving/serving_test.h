#ifndef TENSORD_TESTS_SERVER_SERVING_SERVING_TEST_H_
#define TENSORD_TESTS_SERVER_SERVING_SERVING_TEST_H_

#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "tensord/v1/execution_service.grpc.pb.h"
#include "tensord/v1/session_service.grpc.pb.h"
#include "tensord/v1/tensor_service.grpc.pb.h"
#include "tests/server/support/server_test.h"

namespace tensord {

// The real server, called through the API's own stubs.
class ServingTest : public ServerTest {
 protected:
  void SetUp() override { Start(); }
  void Start() {
    StartServer();
    executions = v1::ExecutionService::NewStub(channel_);
    sessions = v1::SessionService::NewStub(channel_);
    tensors = v1::TensorService::NewStub(channel_);
  }

  v1::Session CreateSession() {
    grpc::ClientContext context;
    v1::Session session;
    const grpc::Status status =
        sessions->CreateSession(&context, v1::CreateSessionRequest(), &session);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return session;
  }

  grpc::Status CloseSession(const std::string& id,
                            v1::CloseSessionResponse* response = nullptr) {
    grpc::ClientContext context;
    v1::CloseSessionRequest request;
    request.set_session_id(id);
    v1::CloseSessionResponse own;
    return sessions->CloseSession(&context, request,
                                  response == nullptr ? &own : response);
  }

  // A float32 vector, in chunks of `chunk_bytes`.
  grpc::Status Upload(const v1::UploadTensorHeader& header,
                      const std::string& data, v1::TensorInfo& info,
                      size_t chunk_bytes = 1 << 20) {
    grpc::ClientContext context;
    auto writer = tensors->UploadTensor(&context, &info);
    v1::UploadTensorRequest request;
    *request.mutable_header() = header;
    bool goes_on = writer->Write(request);
    for (size_t at = 0; goes_on && at < data.size(); at += chunk_bytes) {
      request.set_chunk(data.substr(at, chunk_bytes));
      goes_on = writer->Write(request);
    }
    writer->WritesDone();
    return writer->Finish();
  }

  static v1::UploadTensorHeader VectorHeader(const std::string& session_id,
                                             int64_t count) {
    v1::UploadTensorHeader header;
    header.set_session_id(session_id);
    header.set_dtype(v1::DTYPE_FLOAT32);
    header.add_dims(count);
    return header;
  }

  static std::string Floats(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()),
            values.size() * sizeof(float)};
  }

  // Fails the test when it is refused.
  v1::TensorInfo UploadVector(const std::string& session_id,
                              const std::vector<float>& values) {
    v1::TensorInfo info;
    const grpc::Status status =
        Upload(VectorHeader(session_id, static_cast<int64_t>(values.size())),
               Floats(values), info);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return info;
  }

  grpc::Status Download(const v1::DownloadTensorRequest& request,
                        std::string& data, v1::TensorInfo* info = nullptr) {
    grpc::ClientContext context;
    auto reader = tensors->DownloadTensor(&context, request);
    v1::DownloadTensorResponse response;
    data.clear();
    while (reader->Read(&response)) {
      if (response.has_tensor() && info != nullptr) *info = response.tensor();
      data += response.chunk();
    }
    return reader->Finish();
  }

  std::string DownloadAll(const std::string& tensor_id) {
    v1::DownloadTensorRequest request;
    request.set_tensor_id(tensor_id);
    std::string data;
    const grpc::Status status = Download(request, data);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return data;
  }

  grpc::Status Execute(const v1::ExecuteRequest& request,
                       v1::ExecuteResponse& response) {
    grpc::ClientContext context;
    return executions->Execute(&context, request, &response);
  }

  grpc::Status StartExecution(const v1::ExecuteRequest& request,
                              v1::Execution& execution) {
    grpc::ClientContext context;
    return executions->StartExecution(&context, request, &execution);
  }

  grpc::Status Wait(const std::string& id, v1::WaitExecutionResponse& response,
                    absl::Duration timeout = absl::Seconds(60)) {
    grpc::ClientContext context;
    v1::WaitExecutionRequest request;
    request.set_execution_id(id);
    request.mutable_timeout()->set_seconds(absl::ToInt64Seconds(timeout));
    request.mutable_timeout()->set_nanos(
        static_cast<int>(absl::ToInt64Nanoseconds(timeout % absl::Seconds(1))));
    return executions->WaitExecution(&context, request, &response);
  }

  grpc::Status GetExecution(const std::string& id, v1::Execution& execution) {
    grpc::ClientContext context;
    v1::GetExecutionRequest request;
    request.set_execution_id(id);
    return executions->GetExecution(&context, request, &execution);
  }

  // No run, no call, and no answer on its way.
  void ExpectNothingOpen() {
    EXPECT_TRUE(engine_->AwaitIdle(absl::Now() + absl::Seconds(30)));
    EXPECT_TRUE(active_calls_.AwaitNone(absl::Now() + absl::Seconds(30)));
    EXPECT_TRUE(active_calls_.AwaitSent(absl::Now() + absl::Seconds(30)));
  }

  std::unique_ptr<v1::ExecutionService::Stub> executions;
  std::unique_ptr<v1::SessionService::Stub> sessions;
  std::unique_ptr<v1::TensorService::Stub> tensors;
};

}  // namespace tensord

#endif  // TENSORD_TESTS_SERVER_SERVING_SERVING_TEST_H_
