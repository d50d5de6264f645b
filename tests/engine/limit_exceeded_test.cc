#include "engine/limit_exceeded.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tensord {
namespace {

TEST(LimitDetailsTest, TravelInAStatusBesideItsText) {
  const LimitDetails details{.limit = "max_queue_length",
                             .maximum = 4,
                             .requested = 5,
                             .unit = "executions",
                             .scope = "device cpu:0",
                             .subject = "a\nb",
                             .may_retry = true,
                             .retry_ns = 250'000};
  const absl::Status status =
      details.ToStatus("device cpu:0 has 4 executions queued");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "device cpu:0 has 4 executions queued; the limit max_queue_length "
            "is 4 (--max-queue-length)");

  const std::optional<LimitDetails> read = LimitDetails::FromStatus(status);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->limit, "max_queue_length");
  EXPECT_EQ(read->maximum, 4);
  EXPECT_EQ(read->requested, 5);
  EXPECT_EQ(read->unit, "executions");
  EXPECT_EQ(read->scope, "device cpu:0");
  EXPECT_EQ(read->subject, "a\nb");
  EXPECT_TRUE(read->may_retry);
  EXPECT_EQ(read->retry_ns, 250'000);
}

TEST(LimitDetailsTest, AreAbsentFromOtherStatuses) {
  EXPECT_FALSE(LimitDetails::FromStatus(absl::OkStatus()).has_value());
  EXPECT_FALSE(
      LimitDetails::FromStatus(absl::ResourceExhaustedError("device is full"))
          .has_value());
}

}  // namespace
}  // namespace tensord
