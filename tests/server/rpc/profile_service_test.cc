#include <gmock/gmock.h>
#include <grpcpp/support/sync_stream.h>
#include <gtest/gtest.h>

#include <memory>

#include "tensord/v1/errors.pb.h"
#include "tensord/v1/profile_service.pb.h"
#include "tests/server/support/server_test.h"

namespace tensord {
namespace {

constexpr char kGet[] = "/tensord.v1.ProfileService/GetOpProfile";
constexpr char kConfigure[] = "/tensord.v1.ProfileService/ConfigureOpProfile";

class ProfileServiceTest : public ServerTest {
 protected:
  void SetUp() override {
    StartServer();
    graph_id_ = Submit(ReluGraph());
    v1::ConfigureOpProfileRequest full;
    full.set_mode(v1::OP_PROFILE_MODE_FULL);
    v1::OpProfileConfig config;
    ASSERT_TRUE(Call(kConfigure, full, config).ok());
    EXPECT_EQ(config.mode(), v1::OP_PROFILE_MODE_FULL);
  }
  void Run(int times) {
    for (int i = 0; i < times; ++i) {
      v1::ExecuteResponse response;
      ASSERT_TRUE(Call("/tensord.v1.ExecutionService/Execute",
                       IdentityRequest(graph_id_, "null:0"), response)
                      .ok());
    }
  }
  v1::OpProfile Get(const v1::OpProfile* since = nullptr) {
    v1::GetOpProfileRequest request;
    if (since != nullptr) *request.mutable_since() = *since;
    v1::OpProfile profile;
    const grpc::Status status = Call(kGet, request, profile);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return profile;
  }

  std::string graph_id_;
};

TEST_F(ProfileServiceTest, CountsLaunchesByOpAndBackend) {
  Run(5);
  const v1::OpProfile profile = Get();
  ASSERT_EQ(profile.rows_size(), 1);
  EXPECT_EQ(profile.rows(0).op(), "Relu");
  EXPECT_EQ(profile.rows(0).backend(), "null");
  EXPECT_EQ(profile.rows(0).launch_count(), 5);
  EXPECT_EQ(profile.rows(0).host_time().sample_count(), 5);
  EXPECT_EQ(profile.rows(0).devices(0).device(), "null:0");
  EXPECT_EQ(profile.kernels(0).launch_count(), 5);
  EXPECT_EQ(profile.kernels(0).dtype(), "float32");
  EXPECT_LE(profile.bucket_bounds_ns_size(), 16);
  EXPECT_EQ(profile.rows(0).host_time().bucket_counts_size(),
            profile.bucket_bounds_ns_size() + 1);
  EXPECT_GT(profile.phases_size(), 0);
}

TEST_F(ProfileServiceTest, ADifferenceHasTheWindowAlone) {
  Run(5);
  const v1::OpProfile before = Get();
  EXPECT_EQ(Get(&before).rows_size(), 0);
  Run(3);
  const v1::OpProfile window = Get(&before);
  ASSERT_EQ(window.rows_size(), 1);
  EXPECT_EQ(window.rows(0).launch_count(), 3);
  EXPECT_EQ(window.rows(0).host_time().sample_count(), 3);
  EXPECT_EQ(window.kernels(0).launch_count(), 3);
  EXPECT_FALSE(window.spans_epochs());
  EXPECT_EQ(window.start_time().seconds(), before.end_time().seconds());
}

TEST_F(ProfileServiceTest, ADifferenceOverAChangeOfSettingsSaysSo) {
  const v1::OpProfile before = Get();
  v1::ConfigureOpProfileRequest request;
  request.set_mode(v1::OP_PROFILE_MODE_SAMPLED);
  request.set_sample_every(7);
  v1::OpProfileConfig config;
  ASSERT_TRUE(Call(kConfigure, request, config).ok());
  EXPECT_EQ(config.sample_every(), 7);
  EXPECT_TRUE(Get(&before).spans_epochs());
}

TEST_F(ProfileServiceTest, WhatIsNoEarlierAnswerIsRefused) {
  Run(1);
  v1::GetOpProfileRequest request;
  v1::OpProfile profile;
  request.mutable_since()->set_incarnation("another");
  grpc::Status status = Call(kGet, request, profile);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(status), "PROFILE_RESTARTED");
  *request.mutable_since() = Get();
  auto& row = *request.mutable_since()->mutable_rows(0);
  row.set_launch_count(row.launch_count() + 1);
  EXPECT_EQ(Call(kGet, request, profile).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  row.set_launch_count(-1);
  EXPECT_EQ(Call(kGet, request, profile).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  *request.mutable_since() = Get();
  *request.mutable_since()->add_rows() = request.since().rows(0);
  EXPECT_EQ(Call(kGet, request, profile).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ProfileServiceTest, AskingForNothingReadsTheSettings) {
  v1::OpProfileConfig config;
  ASSERT_TRUE(Call(kConfigure, v1::ConfigureOpProfileRequest(), config).ok());
  EXPECT_EQ(config.mode(), v1::OP_PROFILE_MODE_FULL);
  const int64_t epoch = config.epoch();
  ASSERT_TRUE(Call(kConfigure, v1::ConfigureOpProfileRequest(), config).ok());
  EXPECT_EQ(config.epoch(), epoch);
}

TEST_F(ProfileServiceTest, SettingsOutOfRangeAreRefused) {
  v1::OpProfileConfig config;
  for (const int32_t every : {0, -1, 1'000'001}) {
    v1::ConfigureOpProfileRequest request;
    request.set_sample_every(every);
    EXPECT_EQ(Call(kConfigure, request, config).error_code(),
              grpc::StatusCode::INVALID_ARGUMENT);
  }
  v1::ConfigureOpProfileRequest request;
  request.set_mode(static_cast<v1::OpProfileMode>(9));
  EXPECT_EQ(Call(kConfigure, request, config).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

class Watcher {
 public:
  Watcher(grpc::ChannelInterface& channel,
          const v1::WatchOpProfileRequest& request)
      : method_("/tensord.v1.ProfileService/WatchOpProfile",
                grpc::internal::RpcMethod::SERVER_STREAMING),
        reader_(grpc::internal::ClientReaderFactory<v1::OpProfile>::Create(
            &channel, method_, &context, request)) {}

  bool Next(v1::OpProfile& profile) { return reader_->Read(&profile); }
  grpc::Status Finish() { return reader_->Finish(); }

  grpc::ClientContext context;

 private:
  const grpc::internal::RpcMethod method_;
  std::unique_ptr<grpc::ClientReader<v1::OpProfile>> reader_;
};

TEST_F(ProfileServiceTest, AWatchBeginsWithEverythingAndGoesOnWithWindows) {
  Run(4);
  v1::WatchOpProfileRequest request;
  request.mutable_interval()->set_nanos(100'000'000);
  Watcher watcher(*channel_, request);
  v1::OpProfile profile;
  ASSERT_TRUE(watcher.Next(profile));
  EXPECT_EQ(profile.rows(0).launch_count(), 4);
  Run(3);
  int64_t launches = 0;
  while (launches < 3) {
    ASSERT_TRUE(watcher.Next(profile));
    for (const auto& row : profile.rows()) launches += row.launch_count();
  }
  EXPECT_EQ(launches, 3);
  watcher.context.TryCancel();
  EXPECT_EQ(watcher.Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(ProfileServiceTest, AWatchThatIsWrongIsRefused) {
  v1::WatchOpProfileRequest request;
  v1::OpProfile profile;
  for (const int64_t seconds : {int64_t{-1}, int64_t{3601}, INT64_MAX}) {
    request.mutable_interval()->set_seconds(seconds);
    Watcher watcher(*channel_, request);
    EXPECT_FALSE(watcher.Next(profile));
    EXPECT_EQ(watcher.Finish().error_code(),
              grpc::StatusCode::INVALID_ARGUMENT);
  }
}

TEST_F(ProfileServiceTest, WatchersAreLimitedAndOneThatLeavesMakesRoom) {
  StopServer();
  config_.max_watchers = 1;
  StartServer();
  v1::WatchOpProfileRequest request;
  request.mutable_interval()->set_seconds(3600);
  v1::OpProfile profile;
  auto first = std::make_unique<Watcher>(*channel_, request);
  ASSERT_TRUE(first->Next(profile));
  Watcher second(*channel_, request);
  EXPECT_FALSE(second.Next(profile));
  const grpc::Status status = second.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailOf<v1::LimitExceeded>(status)->limit(), "max_watchers");
  first->context.TryCancel();
  first->Finish();
  // The server learns of it a moment later.
  while (true) {
    Watcher third(*channel_, request);
    if (third.Next(profile)) break;
    EXPECT_EQ(third.Finish().error_code(),
              grpc::StatusCode::RESOURCE_EXHAUSTED);
  }
}

}  // namespace
}  // namespace tensord
