#include "clients/cpp/execution_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "clients/cpp/client.h"
#include "clients/cpp/tensors.h"
#include "tests/support/fake_daemon/fake_daemon.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;
using testing::FakeDaemon;
using ::testing::SizeIs;

class ExecutionStreamTest : public ::testing::Test {
 protected:
  ExecutionStreamTest() { daemon.graph.add_outputs()->set_name("y"); }

  static v1::ExecuteRequest Request(float value) {
    v1::ExecuteRequest request;
    request.set_graph_id("g");
    *request.add_inputs()->mutable_tensor() = MakeTensor<float>({1}, {value});
    return request;
  }
  static float ValueOf(const v1::ExecuteResponse& response) {
    return (*TensorValues<float>(response.outputs(0).tensor()))[0];
  }

  FakeDaemon daemon;
  Client client = *Client::Connect(daemon.address());
};

TEST_F(ExecutionStreamTest, RunsOneAfterTheOther) {
  const auto stream = client.OpenStream({});
  for (int i = 0; i < 10; ++i) {
    const auto response = stream->Execute(Request(static_cast<float>(i)));
    ASSERT_TRUE(response.ok()) << response.status();
    EXPECT_EQ(ValueOf(*response), i);
  }
  EXPECT_TRUE(stream->Close().ok());
  EXPECT_THAT(daemon.executions(), SizeIs(10));
}

TEST_F(ExecutionStreamTest, GivesEachAnswerToItsOwnRequest) {
  daemon.runs.stream_group = 4;  // answered from the last to the first
  const auto stream = client.OpenStream({});
  std::vector<float> order;
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(stream
                    ->Send(Request(static_cast<float>(i)),
                           [&order, i](absl::StatusOr<v1::ExecuteResponse> r) {
                             ASSERT_TRUE(r.ok());
                             EXPECT_EQ(ValueOf(*r), i);
                             order.push_back(ValueOf(*r));
                           })
                    .ok());
  }
  EXPECT_TRUE(stream->Close().ok());
  EXPECT_THAT(order, ElementsAre(3, 2, 1, 0, 7, 6, 5, 4));
}

TEST_F(ExecutionStreamTest, GoesOnAfterARunThatFailed) {
  daemon.knows_only_submitted = true;
  const auto stream = client.OpenStream({});
  EXPECT_EQ(stream->Execute(Request(1)).status().code(),
            absl::StatusCode::kNotFound);
  daemon.knows_only_submitted = false;
  EXPECT_TRUE(stream->Execute(Request(1)).ok());
  EXPECT_TRUE(stream->Close().ok());
}

TEST_F(ExecutionStreamTest, WaitsWhenSoManyAreOpen) {
  daemon.runs.stream_group = 3;
  const auto stream = client.OpenStream({.max_open = 2});
  std::atomic<int> sent{0}, answered{0};
  const auto send = [&] {
    EXPECT_TRUE(stream
                    ->Send(Request(1),
                           [&](const absl::StatusOr<v1::ExecuteResponse>&) {
                             ++answered;
                           })
                    .ok());
    ++sent;
  };
  send();
  send();
  // The daemon answers three at once, so the third one waits until Close().
  std::thread third([&] {
    EXPECT_EQ(stream->Send(Request(1), [](const auto&) { FAIL(); }).code(),
              absl::StatusCode::kFailedPrecondition);
  });
  EXPECT_TRUE(stream->Close().ok());
  third.join();
  EXPECT_EQ(sent, 2);
  EXPECT_EQ(answered, 2);
}

TEST_F(ExecutionStreamTest, SendsInACallbackWithoutWaiting) {
  const auto stream = client.OpenStream({.max_open = 1});
  absl::Notification is_done;
  int left = 100;
  std::function<void(absl::StatusOr<v1::ExecuteResponse>)> next =
      [&](const absl::StatusOr<v1::ExecuteResponse>& response) {
        EXPECT_TRUE(response.ok());
        if (--left == 0) return is_done.Notify();
        EXPECT_TRUE(stream->Send(Request(1), next).ok());
      };
  ASSERT_TRUE(stream->Send(Request(1), next).ok());
  is_done.WaitForNotification();
  EXPECT_TRUE(stream->Close().ok());
  EXPECT_THAT(daemon.executions(), SizeIs(100));
}

TEST_F(ExecutionStreamTest, TellsEveryOpenRequestThatItBroke) {
  daemon.runs.stream_group = 100;
  daemon.runs.break_stream_after = 5;
  const auto stream = client.OpenStream({});
  absl::BlockingCounter open(5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(
        stream
            ->Send(Request(1),
                   [&](const absl::StatusOr<v1::ExecuteResponse>& response) {
                     EXPECT_EQ(response.status().code(),
                               absl::StatusCode::kUnavailable);
                     EXPECT_EQ(response.status().message(),
                               "the daemon shuts down");
                     // Nothing waits here for the stream's own end.
                     EXPECT_FALSE(
                         stream->Send(Request(1), [](const auto&) {}).ok());
                     open.DecrementCount();
                   })
            .ok());
  }
  open.Wait();
  EXPECT_EQ(stream->Send(Request(1), [](const auto&) { FAIL(); }).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(stream->Close().code(), absl::StatusCode::kUnavailable);
}

TEST_F(ExecutionStreamTest, CancelsWhatIsOpenWhenItIsDropped) {
  daemon.runs.stream_group = 100;
  absl::Status end;
  {
    const auto stream = client.OpenStream({});
    ASSERT_TRUE(stream
                    ->Send(Request(1),
                           [&](const absl::StatusOr<v1::ExecuteResponse>& r) {
                             end = r.status();
                           })
                    .ok());
  }
  EXPECT_EQ(end.code(), absl::StatusCode::kCancelled);
}

TEST_F(ExecutionStreamTest, EndsAtItsTimeout) {
  daemon.runs.stream_group = 100;
  const auto stream = client.OpenStream({.timeout = absl::Milliseconds(50)});
  EXPECT_EQ(stream->Execute(Request(1)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST_F(ExecutionStreamTest, SaysThatNobodyAnswers) {
  auto nobody = *Client::Connect("127.0.0.1:1");
  const auto stream = nobody.OpenStream({});
  EXPECT_EQ(stream->Execute(Request(1)).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(ExecutionStreamTest, ServesManyThreads) {
  const auto stream = client.OpenStream({.max_open = 8});
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&stream, t] {
      for (int i = 0; i < 50; ++i) {
        const float value = static_cast<float>(100 * t + i);
        const auto response = stream->Execute(Request(value));
        ASSERT_TRUE(response.ok()) << response.status();
        EXPECT_EQ(ValueOf(*response), value);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(stream->Close().ok());
}

}  // namespace
}  // namespace tensord
