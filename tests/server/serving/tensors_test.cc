// Sessions and tensors over the wire.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <set>

#include "google/rpc/error_details.pb.h"
#include "tensord/v1/errors.pb.h"
#include "tests/server/serving/serving_test.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Sha256Bytes(const std::string& data) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const uint8_t*>(data.data()), data.size(),
         reinterpret_cast<uint8_t*>(digest.data()));
  return digest;
}

class TensorsTest : public ServingTest {
 protected:
  void SetUp() override {
    config_.max_session_bytes = 1 << 20;
    config_.max_resident_bytes = 3 << 19;
    config_.max_sessions = 4;
    ServingTest::SetUp();
  }
};

TEST_F(TensorsTest, WhatIsUploadedComesBackWholeAndInRanges) {
  const v1::Session session = CreateSession();
  EXPECT_THAT(session.session_id(), StartsWith("tensord."));
  std::vector<float> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const std::string data = Floats(values);
  v1::UploadTensorHeader header = VectorHeader(session.session_id(), 1000);
  header.set_data_sha256(Sha256Bytes(data));
  v1::TensorInfo info;
  // Chunks that end inside an element.
  const grpc::Status status = Upload(header, data, info, 333);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(info.size_bytes(), 4000);
  EXPECT_EQ(info.session_id(), session.session_id());
  EXPECT_EQ(info.device(), "cpu:0");
  // dtype, rank and extents, then the bytes.
  std::string content("\1\0\0\0\1\0\0\0\xe8\3\0\0\0\0\0\0", 16);
  EXPECT_EQ(info.content_sha256(), Sha256Bytes(content + data));
  EXPECT_TRUE(DownloadAll(info.tensor_id()) == data);
  v1::DownloadTensorRequest range;
  range.set_tensor_id(info.tensor_id());
  range.set_offset_bytes(10);
  range.set_size_bytes(2001);
  range.set_chunk_bytes(100);
  std::string part;
  v1::TensorInfo told;
  ASSERT_TRUE(Download(range, part, &told).ok());
  EXPECT_TRUE(part == data.substr(10, 2001));
  EXPECT_EQ(told.tensor_id(), info.tensor_id());
  range.set_size_bytes(0);
  ASSERT_TRUE(Download(range, part).ok());
  EXPECT_EQ(part, "");
}

TEST_F(TensorsTest, ScalarsAndEmptyTensorsAreTensors) {
  const std::string session = CreateSession().session_id();
  v1::UploadTensorHeader header = VectorHeader(session, 0);
  v1::TensorInfo info;
  ASSERT_TRUE(Upload(header, "", info).ok());
  EXPECT_EQ(info.size_bytes(), 0);
  EXPECT_EQ(DownloadAll(info.tensor_id()), "");
  header.clear_dims();
  ASSERT_TRUE(Upload(header, "1234", info).ok());
  EXPECT_EQ(DownloadAll(info.tensor_id()), "1234");
}

TEST_F(TensorsTest, WrongUploadsAreRefusedAndLeaveNothing) {
  const std::string session = CreateSession().session_id();
  const v1::UploadTensorHeader right = VectorHeader(session, 2);
  v1::TensorInfo info;
  const auto refused = [&](v1::UploadTensorHeader header,
                           const std::string& data) {
    return Upload(header, data, info);
  };
  grpc::Status status = refused(right, "1234567");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("7 bytes came"));
  status = refused(right, "123456789");
  EXPECT_THAT(status.error_message(), HasSubstr("more than the 8 bytes"));
  v1::UploadTensorHeader header = right;
  header.set_data_sha256(Sha256Bytes("else"));
  status = refused(header, "12345678");
  EXPECT_EQ(ReasonOf(status), "HASH_MISMATCH");
  header = right;
  header.set_dims(0, -1);
  EXPECT_EQ(refused(header, "").error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  header.set_dims(0, INT64_MAX);
  EXPECT_EQ(refused(header, "").error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  header = right;
  header.set_dtype(v1::DTYPE_UNSPECIFIED);
  EXPECT_EQ(refused(header, "").error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  header = right;
  header.set_dtype(v1::DTYPE_BOOL);
  status = refused(header, "\1\2");
  EXPECT_TRUE(DetailOf<v1::InvalidTensor>(status).has_value())
      << status.error_message();
  header = right;
  header.set_device("cuda:0");
  EXPECT_EQ(refused(header, "").error_code(), grpc::StatusCode::NOT_FOUND);
  header = right;
  header.set_session_id("tensord.aaaaaaaaaaaaaaaaaaaaaaaaaa");
  EXPECT_EQ(refused(header, "").error_code(), grpc::StatusCode::NOT_FOUND);
  ExpectNothingOpen();
  EXPECT_EQ(holdings_->tensors.count(), 0);
  EXPECT_EQ(holdings_->sessions.resident_bytes().count(), 0u);
  EXPECT_EQ(engine_->buffers().loaned_bytes(), 0u);
}

TEST_F(TensorsTest, BytesAreLimitedPerSessionAndInAll) {
  const std::string first = CreateSession().session_id();
  const std::string second = CreateSession().session_id();
  v1::TensorInfo info;
  ASSERT_TRUE(
      Upload(VectorHeader(first, 1 << 17), std::string(1 << 19, 'a'), info)
          .ok());
  // 0.5 MiB of 1 MiB are used.
  grpc::Status status = Upload(VectorHeader(first, (1 << 17) + 1), "", info);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  auto limit = DetailOf<v1::LimitExceeded>(status);
  ASSERT_TRUE(limit.has_value()) << status.error_message();
  EXPECT_EQ(limit->limit(), "max_session_bytes");
  EXPECT_EQ(limit->maximum(), 1 << 20);
  EXPECT_EQ(limit->requested(), (1 << 20) + 4);
  EXPECT_TRUE(DetailOf<google::rpc::RetryInfo>(status).has_value());
  // 0.5 of 1.5 MiB in all.
  ASSERT_TRUE(
      Upload(VectorHeader(second, 1 << 18), std::string(1 << 20, 'a'), info)
          .ok());
  status = Upload(VectorHeader(first, 1), "", info);
  limit = DetailOf<v1::LimitExceeded>(status);
  ASSERT_TRUE(limit.has_value()) << status.error_message();
  EXPECT_EQ(limit->limit(), "max_resident_bytes");
  ASSERT_TRUE(CloseSession(second).ok());
  EXPECT_TRUE(Upload(VectorHeader(first, 1), std::string(4, 'a'), info).ok());
}

TEST_F(TensorsTest, AnUploadThatBrokeOffGoesOnWhereItWas) {
  const std::string session = CreateSession().session_id();
  const std::string data(1 << 16, 'x');
  v1::UploadTensorHeader header = VectorHeader(session, 1 << 14);
  header.set_upload_id("u-1");
  header.set_data_sha256(Sha256Bytes(data));
  const auto progress = [&](v1::TensorUpload& upload) {
    grpc::ClientContext context;
    v1::GetTensorUploadRequest request;
    request.set_session_id(session);
    request.set_upload_id("u-1");
    return tensors->GetTensorUpload(&context, request, &upload);
  };
  v1::TensorUpload upload;
  EXPECT_EQ(progress(upload).error_code(), grpc::StatusCode::NOT_FOUND);
  {
    grpc::ClientContext context;
    v1::TensorInfo info;
    auto writer = tensors->UploadTensor(&context, &info);
    v1::UploadTensorRequest request;
    *request.mutable_header() = header;
    ASSERT_TRUE(writer->Write(request));
    request.set_chunk(data.substr(0, 10'000));
    ASSERT_TRUE(writer->Write(request));
    while (!progress(upload).ok() || upload.received_bytes() < 10'000) {
      std::this_thread::yield();
    }
    v1::TensorInfo other;
    EXPECT_EQ(Upload(header, data, other).error_code(),
              grpc::StatusCode::FAILED_PRECONDITION);
    context.TryCancel();
    EXPECT_FALSE(writer->Finish().ok());
  }
  do {
    ASSERT_TRUE(progress(upload).ok());
  } while (!upload.has_expire_time());
  EXPECT_EQ(upload.received_bytes(), 10'000);
  EXPECT_EQ(upload.size_bytes(), 1 << 16);
  v1::TensorInfo info;
  header.set_offset_bytes(9'999);
  grpc::Status status = Upload(header, data.substr(9'999), info);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("10000 bytes"));
  header.set_offset_bytes(10'000);
  v1::UploadTensorHeader another = header;
  another.set_dtype(v1::DTYPE_INT32);
  EXPECT_EQ(Upload(another, "", info).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  status = Upload(header, data.substr(10'000), info);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(DownloadAll(info.tensor_id()) == data);
  ASSERT_TRUE(progress(upload).ok());
  EXPECT_EQ(upload.tensor_id(), info.tensor_id());
  EXPECT_EQ(upload.received_bytes(), upload.size_bytes());
}

TEST_F(TensorsTest, AListHasPagesAndTheLatestFirst) {
  const std::string session = CreateSession().session_id();
  std::vector<std::string> made;
  for (int i = 0; i < 5; ++i) {
    made.push_back(UploadVector(session, {1}).tensor_id());
  }
  UploadVector(CreateSession().session_id(), {2});
  v1::ListTensorsRequest request;
  request.set_session_id(session);
  request.set_page_size(2);
  std::vector<std::string> listed;
  int pages = 0;
  do {
    grpc::ClientContext context;
    v1::ListTensorsResponse response;
    ASSERT_TRUE(tensors->ListTensors(&context, request, &response).ok());
    for (const auto& tensor : response.tensors()) {
      listed.push_back(tensor.tensor_id());
    }
    request.set_page_token(response.next_page_token());
    ++pages;
  } while (!request.page_token().empty());
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(listed, std::vector<std::string>(made.rbegin(), made.rend()));
  grpc::ClientContext context;
  v1::ListTensorsResponse response;
  request.set_page_token("wrong");
  EXPECT_EQ(tensors->ListTensors(&context, request, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(TensorsTest, DeletedTensorsAndForeignIdsAreToldApart) {
  const std::string id =
      UploadVector(CreateSession().session_id(), {1}).tensor_id();
  const auto remove = [&](const std::string& tensor, bool allow_missing) {
    grpc::ClientContext context;
    v1::DeleteTensorRequest request;
    request.set_tensor_id(tensor);
    request.set_allow_missing(allow_missing);
    v1::DeleteTensorResponse response;
    return tensors->DeleteTensor(&context, request, &response);
  };
  EXPECT_TRUE(remove(id, false).ok());
  EXPECT_TRUE(remove(id, true).ok());
  grpc::Status status = remove(id, false);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  const auto resource = DetailOf<google::rpc::ResourceInfo>(status);
  ASSERT_TRUE(resource.has_value());
  EXPECT_EQ(resource->resource_type(), "tensor");
  status = remove("elsewhere." + std::string(26, 'a'), true);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(status), "WRONG_INSTANCE");
  EXPECT_EQ(remove("no id", true).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(TensorsTest, ASessionEndsWithWhatItOwns) {
  const std::string session = CreateSession().session_id();
  UploadVector(session, {1, 2});
  const std::string id = UploadVector(session, {3}).tensor_id();
  grpc::ClientContext context;
  v1::KeepAliveRequest keep;
  keep.set_session_id(session);
  v1::Session told;
  ASSERT_TRUE(sessions->KeepAlive(&context, keep, &told).ok());
  EXPECT_EQ(told.tensor_count(), 2);
  EXPECT_EQ(told.resident_bytes(), 12);
  v1::CloseSessionResponse closed;
  ASSERT_TRUE(CloseSession(session, &closed).ok());
  EXPECT_EQ(closed.freed_tensor_count(), 2);
  EXPECT_EQ(closed.freed_bytes(), 12);
  EXPECT_EQ(CloseSession(session).error_code(), grpc::StatusCode::NOT_FOUND);
  v1::DownloadTensorRequest download;
  download.set_tensor_id(id);
  std::string data;
  EXPECT_EQ(Download(download, data).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(holdings_->sessions.resident_bytes().count(), 0u);
}

TEST_F(TensorsTest, SessionsAreCountedAndExpire) {
  v1::CreateSessionRequest request;
  request.mutable_time_to_live()->set_seconds(0);
  grpc::ClientContext wrong;
  v1::Session session;
  grpc::Status status = sessions->CreateSession(&wrong, request, &session);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(DetailOf<google::rpc::BadRequest>(status).has_value());
  for (int i = 0; i < 4; ++i) CreateSession();
  grpc::ClientContext context;
  status =
      sessions->CreateSession(&context, v1::CreateSessionRequest(), &session);
  const auto limit = DetailOf<v1::LimitExceeded>(status);
  ASSERT_TRUE(limit.has_value()) << status.error_message();
  EXPECT_EQ(limit->limit(), "max_sessions");
  EXPECT_EQ(holdings_->sessions.count(), 4);
  holdings_->Sweep(absl::Now() + absl::Hours(1));
  EXPECT_EQ(holdings_->sessions.count(), 0);
}

TEST_F(TensorsTest, ACallWithoutASessionUsesThatOfItsConnection) {
  const v1::TensorInfo first = UploadVector("", {1});
  const v1::TensorInfo second = UploadVector("", {2});
  EXPECT_EQ(first.session_id(), second.session_id());
  EXPECT_EQ(holdings_->sessions.count(), 1);
}

// y = x + w, with w by handle.
TEST_F(TensorsTest, AGraphKeepsTheWeightsThatItGotByHandle) {
  const std::string session = CreateSession().session_id();
  const std::string first = UploadVector(session, {10, 20}).tensor_id();
  const std::string second = UploadVector(session, {30, 40}).tensor_id();
  const std::string same = UploadVector(session, {10, 20}).tensor_id();
  const auto graph_with = [](const std::string& tensor_id) {
    v1::Graph graph = IdentityGraph("add");
    v1::Node& node = *graph.mutable_nodes(0);
    node.set_op("Add");
    node.add_inputs("w");
    v1::Initializer& weight = *graph.add_initializers();
    weight.set_name("w");
    weight.set_tensor_id(tensor_id);
    return graph;
  };
  const std::string graph_id = Submit(graph_with(first));
  EXPECT_NE(Submit(graph_with(second)), graph_id);
  // The handle itself is in the bytes, so this is another graph, too.
  EXPECT_NE(Submit(graph_with(same)), graph_id);
  ASSERT_TRUE(CloseSession(session).ok());
  v1::ExecuteResponse response;
  const grpc::Status status =
      Execute(IdentityRequest(graph_id, "cpu:0"), response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.outputs(0).tensor().data(), Floats({11, 22}));
  v1::SubmitGraphRequest request;
  *request.mutable_graph() = graph_with(first);
  v1::SubmitGraphResponse submitted;
  EXPECT_EQ(Call("/tensord.v1.GraphService/SubmitGraph", request, submitted)
                .error_code(),
            grpc::StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace tensord
