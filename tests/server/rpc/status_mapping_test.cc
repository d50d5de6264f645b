#include "server/rpc/status_mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "engine/compiled/no_backend_for_op.h"
#include "engine/limit_exceeded.h"
#include "google/rpc/error_details.pb.h"
#include "server/errors/error_details.h"
#include "tensord/v1/errors.pb.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

template <typename Detail>
std::optional<Detail> DetailOf(const google::rpc::Status& rpc) {
  for (const auto& any : rpc.details()) {
    Detail detail;
    if (any.UnpackTo(&detail)) return detail;
  }
  return std::nullopt;
}

TEST(StatusMapping, OkStaysOk) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
}

TEST(StatusMapping, CodesAreGrpcsAndUnknownOnesAreOurBugs) {
  EXPECT_EQ(ToGrpcStatus(absl::NotFoundError("x")).error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(ToGrpcStatus(absl::UnknownError("x")).error_code(),
            grpc::StatusCode::INTERNAL);
  EXPECT_EQ(ToGrpcStatus(absl::DataLossError("x")).error_code(),
            grpc::StatusCode::INTERNAL);
}

TEST(StatusMapping, AnInternalTextTellsNoPath) {
  const google::rpc::Status rpc = ToRpcStatus(
      absl::InternalError("cannot open '/etc/tensord/key.pem' (see "
                          "engine/exec/run.cc): CUDA_ERROR_ILLEGAL_ADDRESS"),
      "r1");
  EXPECT_EQ(rpc.message(),
            "cannot open '<path>' (see <path>): CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(DetailOf<google::rpc::RequestInfo>(rpc)->request_id(), "r1");
  // A client's own mistake may have slashes in it.
  EXPECT_EQ(
      ToRpcStatus(absl::InvalidArgumentError("node '/a/b'"), "").message(),
      "node '/a/b'");
}

TEST(StatusMapping, LimitsAreTypedAndSayWhetherToRetry) {
  LimitDetails limit;
  limit.limit = "max_queue_length";
  limit.maximum = 8;
  limit.requested = 9;
  limit.unit = "executions";
  limit.scope = "device cpu:0";
  limit.may_retry = true;
  google::rpc::Status rpc =
      ToRpcStatus(limit.ToStatus("the queue is full"), "");
  const auto detail = DetailOf<v1::LimitExceeded>(rpc);
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->limit(), "max_queue_length");
  EXPECT_EQ(detail->flag(), "--max-queue-length");
  EXPECT_EQ(detail->maximum(), 8);
  EXPECT_EQ(detail->requested(), 9);
  EXPECT_TRUE(DetailOf<google::rpc::RetryInfo>(rpc).has_value());
  limit.retry_ns = 1'234'000'001;
  rpc = ToRpcStatus(limit.ToStatus("the queue is full"), "");
  const auto retry = DetailOf<google::rpc::RetryInfo>(rpc);
  ASSERT_TRUE(retry.has_value());
  EXPECT_EQ(retry->retry_delay().seconds(), 1);
  EXPECT_EQ(retry->retry_delay().nanos(), 235'000'000);
  limit.may_retry = false;
  rpc = ToRpcStatus(limit.ToStatus("too large"), "");
  EXPECT_FALSE(DetailOf<google::rpc::RetryInfo>(rpc).has_value());
}

NoBackendForOp ManyRows(int count) {
  NoBackendForOp error;
  error.op = "Einsum";
  error.node = "n";
  error.backend = BackendId::kCpu;
  error.dtypes = {DType::kFloat16, DType::kFloat16};
  error.input_count = 1;
  error.available_backends = {BackendId::kCpu};
  for (int i = 0; i < count; ++i) {
    error.declined.push_back(
        {BackendId::kCpu, "kernel" + std::to_string(i), std::string(200, 'r')});
    error.supported.push_back(
        {BackendId::kCpu, {DType::kFloat32, DType::kFloat32}, 1});
  }
  return error;
}

TEST(StatusMapping, NoBackendForOpTravelsTyped) {
  const google::rpc::Status rpc = ToRpcStatus(ManyRows(1).ToStatus(), "");
  EXPECT_EQ(rpc.code(), static_cast<int>(absl::StatusCode::kUnimplemented));
  const auto detail = DetailOf<v1::NoBackendForOp>(rpc);
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->op(), "Einsum");
  EXPECT_EQ(detail->node(), "n");
  EXPECT_EQ(detail->dtypes().inputs(0), v1::DTYPE_FLOAT16);
  EXPECT_EQ(detail->backends(0), "cpu");
  EXPECT_EQ(detail->supported(0).combinations(0).inputs(0), v1::DTYPE_FLOAT32);
  EXPECT_EQ(detail->declined(0).kernel(), "kernel0");
  EXPECT_FALSE(detail->is_truncated());
}

TEST(StatusMapping, NothingIsLargerThanTrailersCarry) {
  const google::rpc::Status rpc = ToRpcStatus(ManyRows(32).ToStatus(), "");
  EXPECT_LE(rpc.ByteSizeLong(), kMaxErrorDetailsBytes);
  EXPECT_TRUE(DetailOf<v1::NoBackendForOp>(rpc)->is_truncated());
  const std::string long_text(100'000, 'x');
  EXPECT_EQ(ToRpcStatus(absl::AbortedError(long_text), "").message().size(),
            kMaxErrorTextBytes);
  EXPECT_EQ(ToGrpcStatus(BadField("f", long_text)).error_message().size(),
            kMaxErrorTextBytes);
}

TEST(StatusMapping, ATextIsCutBetweenCharacters) {
  std::string text;
  while (text.size() < 2 * kMaxErrorTextBytes) text += "é";
  for (const char* prefix : {"", "a"}) {
    const std::string cut =
        ToRpcStatus(absl::AbortedError(prefix + text), "").message();
    EXPECT_THAT(cut, Not(HasSubstr("\xc3...")));
    EXPECT_THAT(cut, HasSubstr("\xa9..."));
  }
}

TEST(StatusMapping, AMessageThatIsTooLargeNamesSideAndFlag) {
  const google::rpc::Status rpc =
      ToRpcStatus(MessageTooLarge("received message", 2000, 1000), "");
  EXPECT_THAT(rpc.message(), HasSubstr("the daemon's received message"));
  EXPECT_THAT(rpc.message(), HasSubstr("2000"));
  EXPECT_THAT(rpc.message(), HasSubstr("--max-message-bytes"));
  EXPECT_EQ(DetailOf<v1::LimitExceeded>(rpc)->scope(), "received message");
}

TEST(StatusMapping, UnavailableSaysToTryLater) {
  EXPECT_TRUE(DetailOf<google::rpc::RetryInfo>(
                  ToRpcStatus(absl::UnavailableError("draining"), ""))
                  .has_value());
}

}  // namespace
}  // namespace tensord
