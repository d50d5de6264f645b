#include <gmock/gmock.h>
#include <grpcpp/support/sync_stream.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "server/rpc/graph_id.h"
#include "tensord/v1/errors.pb.h"
#include "tests/server/support/server_test.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

// One upload, message by message.
class Upload {
 public:
  explicit Upload(grpc::ChannelInterface& channel)
      : method_("/tensord.v1.GraphService/UploadGraph",
                grpc::internal::RpcMethod::CLIENT_STREAMING),
        writer_(grpc::internal::ClientWriterFactory<grpc::ByteBuffer>::Create(
            &channel, method_, &context, &response)) {}

  bool Raw(const std::string& bytes) { return writer_->Write(ToBuffer(bytes)); }
  bool Header(const v1::UploadGraphHeader& header) {
    v1::UploadGraphRequest request;
    *request.mutable_header() = header;
    return Raw(request.SerializeAsString());
  }
  bool Chunk(const std::string& bytes) {
    v1::UploadGraphRequest request;
    request.set_chunk(bytes);
    return Raw(request.SerializeAsString());
  }
  grpc::Status Finish() {
    writer_->WritesDone();
    return Await();
  }
  grpc::Status Await() { return writer_->Finish(); }

  grpc::ClientContext context;
  v1::SubmitGraphResponse response;

 private:
  const grpc::internal::RpcMethod method_;
  std::unique_ptr<grpc::ClientWriter<grpc::ByteBuffer>> writer_;
};

class GraphUploadTest : public ServerTest {
 protected:
  void SetUp() override {
    StartServer();
    bytes_ = IdentityGraph("uploaded").SerializeAsString();
    header_.set_format(v1::GRAPH_FORMAT_TENSORD);
    header_.set_size_bytes(static_cast<int64_t>(bytes_.size()));
    SetHash(bytes_);
  }
  void SetHash(const std::string& bytes) {
    const Sha256Digest digest = Sha256Of(bytes);
    header_.set_sha256(digest.data(), digest.size());
  }
  // Header and all bytes in pieces of seven.
  grpc::Status UploadAll(v1::SubmitGraphResponse* response = nullptr) {
    Upload upload(*channel_);
    upload.Header(header_);
    for (size_t i = 0; i < bytes_.size(); i += 7) {
      if (!upload.Chunk(bytes_.substr(i, 7))) break;
    }
    const grpc::Status status = upload.Finish();
    if (response != nullptr) *response = upload.response;
    return status;
  }
  int64_t GraphCount() { return engine_->CacheStats().graphs; }

  std::string bytes_;
  v1::UploadGraphHeader header_;
};

TEST_F(GraphUploadTest, GivesTheIdThatSubmittingGives) {
  v1::SubmitGraphResponse response;
  const grpc::Status status = UploadAll(&response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.graph_id(), Submit(IdentityGraph("uploaded")));
  v1::ExecuteResponse executed;
  EXPECT_TRUE(Call("/tensord.v1.ExecutionService/Execute",
                   IdentityRequest(response.graph_id(), ""), executed)
                  .ok());
}

TEST_F(GraphUploadTest, AKnownGraphIsAnsweredBeforeItsBytes) {
  ASSERT_TRUE(UploadAll().ok());
  Upload upload(*channel_);
  upload.Header(header_);
  EXPECT_TRUE(upload.Finish().ok());
  EXPECT_TRUE(upload.response.already_known());
}

TEST_F(GraphUploadTest, AWrongHashIsRefusedWithBoth) {
  SetHash("other bytes");
  const grpc::Status status = UploadAll();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ReasonOf(status), "HASH_MISMATCH");
  EXPECT_EQ(GraphCount(), 0);
}

TEST_F(GraphUploadTest, MoreOrFewerBytesThanDeclaredAreRefused) {
  header_.set_size_bytes(header_.size_bytes() + 1);
  EXPECT_THAT(UploadAll().error_message(), HasSubstr("the header declares"));
  header_.set_size_bytes(header_.size_bytes() - 2);
  EXPECT_THAT(UploadAll().error_message(), HasSubstr("more than the"));
  EXPECT_EQ(GraphCount(), 0);
}

TEST_F(GraphUploadTest, HeadersThatAreWrongAreRefusedBeforeAnyByte) {
  const auto refused = [this] {
    Upload upload(*channel_);
    upload.Header(header_);
    return upload.Finish();
  };
  header_.set_format(v1::GRAPH_FORMAT_UNSPECIFIED);
  EXPECT_THAT(refused().error_message(), HasSubstr("header.format"));
  header_.set_format(v1::GRAPH_FORMAT_ONNX);
  header_.set_sha256("short");
  EXPECT_THAT(refused().error_message(), HasSubstr("SHA-256"));
  SetHash(bytes_);
  for (const int64_t size : {int64_t{0}, int64_t{-1}}) {
    header_.set_size_bytes(size);
    EXPECT_THAT(refused().error_message(), HasSubstr("header.size_bytes"));
  }
  header_.set_size_bytes(INT64_MAX);
  const grpc::Status status = refused();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailOf<v1::LimitExceeded>(status)->limit(), "max_upload_bytes");
}

TEST_F(GraphUploadTest, AStreamOutOfOrderIsRefused) {
  Upload no_header(*channel_);
  no_header.Chunk("abc");
  EXPECT_THAT(no_header.Finish().error_message(), HasSubstr("no header"));
  Upload nothing(*channel_);
  EXPECT_THAT(nothing.Finish().error_message(), HasSubstr("without one"));
  Upload twice(*channel_);
  twice.Header(header_);
  twice.Header(header_);
  EXPECT_THAT(twice.Finish().error_message(), HasSubstr("second one"));
}

TEST_F(GraphUploadTest, AClientThatVanishesGivesItsMemoryBack) {
  StopServer();
  // Room for one upload only, so that what the vanished one keeps is missed.
  config_.max_upload_bytes = 2000;
  config_.upload_budget_bytes = 2000;
  StartServer();
  header_.set_size_bytes(2000);
  for (int i = 0; i < 3; ++i) {
    Upload upload(*channel_);
    ASSERT_TRUE(upload.Header(header_));
    ASSERT_TRUE(upload.Chunk("abc"));
    upload.context.TryCancel();
    EXPECT_EQ(upload.Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  // One more that waits for its turn, and goes before it comes.
  Upload first(*channel_);
  ASSERT_TRUE(first.Header(header_));
  Upload second(*channel_);
  ASSERT_TRUE(second.Header(header_));
  second.context.TryCancel();
  second.Finish();
  first.context.TryCancel();
  first.Finish();
  header_.set_size_bytes(static_cast<int64_t>(bytes_.size()));
  const grpc::Status status = UploadAll();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(GraphCount(), 1);
}

TEST_F(GraphUploadTest, OneThatFindsNoMemoryWaitsForItsTurn) {
  StopServer();
  config_.max_upload_bytes = 2000;
  config_.upload_budget_bytes = 2000;
  StartServer();
  v1::UploadGraphHeader all = header_;
  all.set_size_bytes(2000);
  Upload first(*channel_);
  ASSERT_TRUE(first.Header(all));
  ASSERT_TRUE(first.Chunk("abc"));
  grpc::Status status;
  std::thread second([&] { status = UploadAll(); });
  first.context.TryCancel();
  first.Finish();
  second.join();
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_F(GraphUploadTest, AClientThatSendsNothingIsCancelled) {
  StopServer();
  config_.upload_idle_timeout = absl::Milliseconds(30);
  StartServer();
  Upload upload(*channel_);
  ASSERT_TRUE(upload.Header(header_));
  // Not finished by the client: the server ends it.
  EXPECT_EQ(upload.Await().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(UploadAll().ok());
}

TEST_F(GraphUploadTest, AHeaderAndAChunkInOneMessageAreRefused) {
  ASSERT_TRUE(UploadAll().ok());  // also when the graph is known already
  v1::UploadGraphRequest header, chunk;
  *header.mutable_header() = header_;
  chunk.set_chunk("abc");
  Upload upload(*channel_);
  upload.Raw(header.SerializeAsString() + chunk.SerializeAsString());
  EXPECT_THAT(upload.Finish().error_message(), HasSubstr("in one message"));
}

}  // namespace
}  // namespace tensord
