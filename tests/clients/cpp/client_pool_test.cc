#include "clients/cpp/client_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "google/rpc/error_details.pb.h"
#include "tests/support/fake_daemon/fake_daemon.h"

namespace tensord {
namespace {

using testing::Error;
using testing::FakeDaemon;
using ::testing::SizeIs;

constexpr int kUnavailable = 14;

class ClientPoolTest : public ::testing::Test {
 protected:
  ClientPoolTest() {
    std::vector<std::string> addresses;
    for (const auto& daemon : daemons) {
      daemon->knows_only_submitted = true;
      addresses.push_back(daemon->address());
    }
    pool = *ClientPool::Connect(
        addresses,
        {.retry = {.max_attempts = 2, .first_pause = absl::Milliseconds(1)}});
  }

  std::vector<std::unique_ptr<FakeDaemon>> daemons = [] {
    std::vector<std::unique_ptr<FakeDaemon>> three;
    for (int i = 0; i < 3; ++i) three.push_back(std::make_unique<FakeDaemon>());
    return three;
  }();
  std::unique_ptr<ClientPool> pool;
  const GraphSource graph{v1::GRAPH_FORMAT_ONNX, "model"};
};

TEST_F(ClientPoolTest, TakesTurnsAndBringsTheGraphToEach) {
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(pool->Execute(graph, {}).ok());
  }
  for (const auto& daemon : daemons) {
    EXPECT_THAT(daemon->submissions(), SizeIs(1));
    EXPECT_THAT(daemon->executions(), SizeIs(3));  // the first was NOT_FOUND
  }
}

TEST_F(ClientPoolTest, PassesOverOneThatIsGone) {
  daemons[1].reset();
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(pool->Execute(graph, {}).ok());
  }
  EXPECT_GE(daemons[0]->executions().size(), 2u);
  EXPECT_GE(daemons[2]->executions().size(), 2u);
  std::set<Client*> next;
  for (int i = 0; i < 6; ++i) next.insert(&pool->Next());
  EXPECT_THAT(next, SizeIs(2));
}

TEST_F(ClientPoolTest, GoesElsewhereFromADrainingOneWithARunThatMustNotRepeat) {
  google::rpc::ErrorInfo info;
  info.set_domain("tensord");
  info.set_reason("DRAINING");
  daemons[0]->failure = Error(kUnavailable, "draining", info);
  v1::ExecuteRequest request;
  request.add_outputs()->set_keep_on_device(true);
  EXPECT_TRUE(pool->Execute(graph, request).ok());
  EXPECT_THAT(daemons[0]->executions(), SizeIs(0));
}

TEST_F(ClientPoolTest, DoesNotRepeatARunThatMayHaveBegun) {
  daemons[0]->failure = Error(kUnavailable, "connection reset");
  v1::ExecuteRequest request;
  request.add_outputs()->set_keep_on_device(true);
  EXPECT_EQ(pool->Execute(graph, request).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_THAT(daemons[1]->executions(), SizeIs(0));
}

TEST_F(ClientPoolTest, TriesAllInEachRoundAndThenSaysWhy) {
  for (const auto& daemon : daemons) {
    daemon->failure = Error(kUnavailable, "starting");
    daemon->failing_calls = 2;
  }
  EXPECT_EQ(pool->Execute(graph, {}).status().message(), "starting");
  for (const auto& daemon : daemons) EXPECT_EQ(daemon->failing_calls, 0);
  EXPECT_TRUE(pool->Execute(graph, {}).ok());
}

TEST_F(ClientPoolTest, ReturnsAnErrorThatAnotherDaemonWouldGiveToo) {
  daemons[0]->failure = Error(3, "wrong shape");
  EXPECT_EQ(pool->Execute(graph, {}).status(),
            absl::InvalidArgumentError("wrong shape"));
}

TEST(ClientPool, NeedsAnAddress) {
  EXPECT_FALSE(ClientPool::Connect({}).ok());
  EXPECT_FALSE(ClientPool::Connect({"127.0.0.1:1", ""}).ok());
}

}  // namespace
}  // namespace tensord
