#include "engine/compiled/preparation.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using testing::HasSubstr;

TEST(PreparationChannel, ANodeIsTakenOnceItIsPublished) {
  PreparationChannel channel(4);
  EXPECT_THAT(channel.Take(0, absl::Now()),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("being compiled")));
  channel.Publish();
  EXPECT_THAT(channel.Take(0, absl::Now()), IsOk());
}

TEST(PreparationChannel, TheProducerRunsAtMostItsCapacityAhead) {
  PreparationChannel channel(2);
  std::atomic<int> published{0};
  std::thread producer([&] {
    for (int i = 0; i < 10; ++i) {
      channel.Publish();
      ++published;
    }
    channel.Finish(absl::OkStatus());
  });
  for (int i = 0; i < 10; ++i) {
    ASSERT_THAT(channel.Take(i, absl::InfiniteFuture()), IsOk());
    // Nodes before `i` are taken; two more may be prepared.
    EXPECT_LE(published.load(), i + 2);
  }
  producer.join();
}

TEST(PreparationChannel, ADetachedConsumerNeverBlocksTheProducer) {
  PreparationChannel channel(1);
  channel.Detach();
  for (int i = 0; i < 100; ++i) channel.Publish();
  channel.Finish(absl::OkStatus());
  EXPECT_THAT(channel.AwaitFinish(), IsOk());
}

TEST(PreparationChannel, AFailureReachesTheNodesAfterTheLastPrepared) {
  PreparationChannel channel(4);
  channel.Publish();
  channel.Finish(absl::ResourceExhaustedError("no room for packed weights"));
  EXPECT_THAT(channel.Take(0, absl::InfiniteFuture()), IsOk());
  EXPECT_THAT(channel.Take(1, absl::InfiniteFuture()),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("packed weights")));
  EXPECT_THAT(channel.AwaitFinish(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("")));
}

}  // namespace
}  // namespace tensord
