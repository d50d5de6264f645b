#include "clients/cpp/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "tests/support/fake_daemon/fake_daemon.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;
using testing::Error;
using testing::FakeDaemon;
using ::testing::IsEmpty;

class SessionTest : public ::testing::Test {
 protected:
  FakeDaemon daemon;
  Client client = *Client::Connect(daemon.address());
};

TEST_F(SessionTest, IsClosedWithItsObject) {
  std::string id;
  {
    const auto session = *Session::Open(
        client, {.display_name = "test", .time_to_live = absl::Seconds(90)});
    id = session->id();
    EXPECT_EQ(daemon.sessions.open_count(), 1u);
  }
  EXPECT_THAT(daemon.sessions.closed(), ElementsAre(id));
  const auto creation = daemon.sessions.creations()[0];
  EXPECT_EQ(creation.display_name(), "test");
  EXPECT_EQ(creation.time_to_live().seconds(), 90);
}

TEST_F(SessionTest, TellsWhatEndedWithIt) {
  const auto session = *Session::Open(client);
  EXPECT_EQ(session->Close()->freed_tensor_count(), 2);
  EXPECT_EQ(session->Close().status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(SessionTest, IsKeptAlive) {
  const auto session =
      *Session::Open(client, {.time_to_live = absl::Milliseconds(30)});
  daemon.sessions.AwaitKeepAlives(3);
  EXPECT_TRUE(session->status().ok());
}

TEST_F(SessionTest, TellsThatItHasExpired) {
  const auto session =
      *Session::Open(client, {.time_to_live = absl::Milliseconds(30)});
  daemon.sessions.ExpireAll();
  while (session->status().ok()) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(session->status().code(), absl::StatusCode::kNotFound);
}

TEST_F(SessionTest, OutlivesADaemonThatDoesNotAnswerForAWhile) {
  const auto session =
      *Session::Open(client, {.time_to_live = absl::Milliseconds(30)});
  daemon.sessions.AwaitKeepAlives(1);
  daemon.failing_calls = 3;
  daemon.failure = Error(14, "restarting");
  daemon.sessions.AwaitKeepAlives(8);
  EXPECT_TRUE(session->status().ok());
}

TEST_F(SessionTest, IsNotOpenedWhereNobodyAnswers) {
  auto nobody = *Client::Connect("127.0.0.1:1", {.retry = {.max_attempts = 1}});
  EXPECT_EQ(Session::Open(nobody).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(SessionTest, EndsAlthoughTheDaemonIsGone) {
  auto daemon_too = std::make_unique<FakeDaemon>();
  auto to_it = *Client::Connect(daemon_too->address());
  const auto session = *Session::Open(to_it);
  daemon_too.reset();
  const absl::Time begin = absl::Now();
  EXPECT_FALSE(session->Close({.max_attempts = 1}).ok());
  EXPECT_LT(absl::Now() - begin, absl::Seconds(20));
}

}  // namespace
}  // namespace tensord
