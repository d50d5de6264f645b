// Graphs of the engine: submitted, held, compiled once, explained.

#include <atomic>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/blocking_counter.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/null/null_backend.h"
#include "engine/compiled/no_backend_for_op.h"
#include "engine/engine.h"
#include "engine/limit_exceeded.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/engine_harness.h"
#include "tests/support/fake_backend.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr DeviceId kFake0{BackendId::kVulkan, 0};

class EngineGraphsTest : public ::testing::Test {
 protected:
  FakeBackend fake_{BackendId::kVulkan};
};

TEST_F(EngineGraphsTest, AGraphWithFixedInputsIsCompiledBeforeTheAnswer) {
  EngineHarness harness({&fake_}, {kFake0});
  const auto outcome = harness.Submit("a", AddChain(3, 1));
  ASSERT_THAT(outcome, IsOk());
  EXPECT_FALSE(outcome->already_known);
  EXPECT_EQ(fake_.control(0).counts().prepares, 3);
  TestRun run(outcome->graph, harness.engine(), {1, 2, 3, 4});
  run.Start();
  EXPECT_THAT(run.Output(), ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(harness.engine().CacheStats().hits, 1);
}

TEST_F(EngineGraphsTest,
       AGraphWithSymbolsIsCompiledForTheHintsAndOncePerShape) {
  EngineHarness harness({&fake_}, {kFake0});
  const auto outcome =
      harness.Submit("a", AddChain(2, 1, 0), "ann", {{Shape{2}}, {Shape{3}}});
  ASSERT_THAT(outcome, IsOk());
  EXPECT_EQ(harness.engine().CacheStats().compiled_graphs, 2);
  EXPECT_EQ(fake_.control(0).counts().prepares, 4);
  for (int i = 0; i < 3; ++i) {
    TestRun run(outcome->graph, harness.engine(), {1, 2, 3});
    run.Start();
    EXPECT_THAT(run.Output(), ElementsAre(3, 4, 5));
  }
  TestRun other(outcome->graph, harness.engine(), {1, 2, 3, 4, 5});
  other.Start();
  EXPECT_THAT(other.Output(), ElementsAre(3, 4, 5, 6, 7));
  EXPECT_EQ(fake_.control(0).counts().prepares, 6);
}

TEST_F(EngineGraphsTest, HintsThatDoNotFitRefuseTheSubmission) {
  EngineHarness harness({&fake_}, {kFake0});
  const auto outcome =
      harness.Submit("a", AddChain(2, 1, 0), "ann", {{Shape{2, 2}}});
  EXPECT_THAT(outcome, StatusIs(absl::StatusCode::kInvalidArgument,
                                HasSubstr("input 'x'")));
  EXPECT_THAT(harness.engine().FindGraph("a", "ann"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'a'")));
}

// 1,000 submissions of one graph, 64 threads at once: prepared once.
TEST_F(EngineGraphsTest, AThousandSubmissionsCompileOnce) {
  constexpr int kThreads = 64;
  constexpr int kSubmissions = 1000;
  EngineHarness harness({&fake_}, {kFake0});
  std::atomic<int> next{0}, decodes{0}, known{0};
  absl::BlockingCounter answers(kSubmissions);
  absl::BlockingCounter ready(kThreads);
  absl::Notification go;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      ready.DecrementCount();
      go.WaitForNotification();
      for (int i = next++; i < kSubmissions; i = next++) {
        Engine::Submission submission;
        submission.id = "a";
        submission.principal = absl::StrCat("p", i % 100);
        submission.decode = [&decodes] {
          ++decodes;
          return AddChain(5, 1);
        };
        harness.engine().SubmitGraph(
            std::move(submission),
            [&](absl::StatusOr<Engine::SubmitOutcome> outcome) {
              EXPECT_THAT(outcome, IsOk());
              known += outcome->already_known;
              answers.DecrementCount();
            });
      }
    });
  }
  ready.Wait();
  go.Notify();
  answers.Wait();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(decodes, 1);
  EXPECT_EQ(fake_.control(0).counts().prepares, 5);
  EXPECT_EQ(known, kSubmissions - 100);  // each principal's first is new to it
  EXPECT_EQ(harness.engine().CacheStats().misses, 1);
}

TEST_F(EngineGraphsTest, SameShapedGraphsKeepTheirOwnWeights) {
  EngineHarness harness({&fake_}, {kFake0});
  const auto one = harness.MustSubmit("a", AddChain(2, 1));
  const auto ten = harness.MustSubmit("b", AddChain(2, 10));
  for (int i = 0; i < 20; ++i) {
    TestRun a(one, harness.engine(), {0, 0, 0, 0});
    TestRun b(ten, harness.engine(), {0, 0, 0, 0});
    a.Start();
    b.Start();
    EXPECT_THAT(a.Output(), Each(2));
    EXPECT_THAT(b.Output(), Each(20));
  }
}

// A freed graph's address may be given to the next one; its id is not.
TEST_F(EngineGraphsTest, AGraphAtTheAddressOfADeletedOneIsAnotherGraph) {
  EngineHarness harness({&fake_}, {kFake0});
  for (int i = 0; i < 20; ++i) {
    const GraphId id = absl::StrCat("g", i);
    auto graph = harness.MustSubmit(id, AddChain(1, i));
    {
      TestRun run(graph, harness.engine(), {0, 0, 0, 0});
      run.Start();
      EXPECT_THAT(run.Output(), Each(i));
    }
    graph.reset();
    ASSERT_THAT(harness.engine().DeleteGraph(id, "ann"), IsOk());
    EXPECT_EQ(harness.engine().CacheStats().compiled_graphs, 0);
    EXPECT_EQ(harness.engine().CacheStats().bytes, 0);
  }
}

TEST_F(EngineGraphsTest, ADeletedGraphFinishesItsRuns) {
  EngineHarness harness({&fake_}, {kFake0});
  auto graph = harness.MustSubmit("a", AddChain(2, 1));
  FakeControl& control = fake_.control(0);
  control.Pause();
  TestRun run(graph, harness.engine(), {1, 1, 1, 1});
  run.Start();
  graph.reset();
  ASSERT_THAT(harness.engine().DeleteGraph("a", "ann"), IsOk());
  control.Resume();
  EXPECT_THAT(run.Output(), Each(3));
  EXPECT_EQ(control.counts().dropped_in_flight, 0);
}

TEST_F(EngineGraphsTest, ADecodersErrorReachesEverySubmitterAndIsNotKept) {
  EngineHarness harness({&fake_}, {kFake0});
  GraphDef cycle = AddChain(2, 1);
  cycle.nodes[0].inputs[0] = "y1";
  EXPECT_THAT(harness.Submit("a", cycle),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cycle")));
  EXPECT_THAT(harness.Submit("a", AddChain(2, 1)), IsOk());
}

TEST_F(EngineGraphsTest, AnOpWithoutAKernelIsRefusedWithWhatThereIs) {
  EngineHarness harness({&fake_}, {kFake0});
  GraphDef graph = AddChain(1, 1);
  graph.nodes[0].op_type = "Sub";
  const auto outcome = harness.Submit("a", graph);
  ASSERT_EQ(outcome.status().code(), absl::StatusCode::kUnimplemented);
  const auto details = NoBackendForOp::FromStatus(outcome.status());
  ASSERT_TRUE(details.has_value());
  EXPECT_EQ(details->op, "Sub");
  EXPECT_EQ(details->node, "add0");
  EXPECT_THAT(harness.engine().ListGraphs("ann", "", 10), ElementsAre());
}

// The null backend has a kernel for everything, and computes nothing.
TEST_F(EngineGraphsTest, ADeviceThatDoesNotComputeVouchesForNothing) {
  HostServices services;
  const std::unique_ptr<Backend> null = MakeNullBackend(services);
  EngineHarness harness({&fake_, null.get()}, {{BackendId::kNull, 0}, kFake0});
  GraphDef graph = AddChain(1, 1);
  graph.nodes[0].op_type = "Sub";
  EXPECT_THAT(harness.Submit("a", graph),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("Sub")));
  const auto added = harness.MustSubmit("b", AddChain(1, 1));
  TestRun anywhere(added, harness.engine(), {0, 0, 0, 0});
  anywhere.Start();
  EXPECT_THAT(anywhere.Output(), Each(1));
  EXPECT_EQ(anywhere.execution().ran_on, kFake0);
  TestRun on_null(added, harness.engine(), {0, 0, 0, 0});
  on_null.execution().wish.device = DeviceId{BackendId::kNull, 0};
  on_null.Start();
  EXPECT_THAT(on_null.Wait(), IsOk());
}

TEST_F(EngineGraphsTest, LimitsOfGraphsArriveTyped) {
  EngineOptions options;
  options.limits.max_nodes = 2;
  options.max_peak_bytes = 1000;
  EngineHarness harness({&fake_}, {kFake0}, options);
  auto outcome = harness.Submit("a", AddChain(3, 1));
  ASSERT_EQ(outcome.status().code(), absl::StatusCode::kResourceExhausted);
  auto details = LimitDetails::FromStatus(outcome.status());
  ASSERT_TRUE(details.has_value()) << outcome.status();
  EXPECT_EQ(details->limit, "max_nodes");
  EXPECT_EQ(details->requested, 3);

  outcome = harness.Submit("b", AddChain(1, 1, 1000));
  details = LimitDetails::FromStatus(outcome.status());
  ASSERT_TRUE(details.has_value()) << outcome.status();
  EXPECT_EQ(details->limit, "max_peak_bytes");
  EXPECT_GT(details->requested, 8000);
}

TEST_F(EngineGraphsTest, GraphsAreExplainedForTheShapesAsked) {
  EngineHarness harness({&fake_}, {kFake0});
  const auto graph = harness.MustSubmit("a", AddChain(2, 1, 0));
  absl::Notification done;
  absl::StatusOr<Explanation> explained;
  harness.engine().ExplainGraph(graph, {Shape{7}}, {},
                                [&](absl::StatusOr<Explanation> explanation) {
                                  explained = std::move(explanation);
                                  done.Notify();
                                });
  done.WaitForNotification();
  ASSERT_THAT(explained, IsOk());
  EXPECT_EQ(explained->device, kFake0);
  ASSERT_EQ(explained->nodes.size(), 2);
  EXPECT_EQ(explained->nodes[0].output_bytes, 28);
}

// 256 MiB of constants never fit a budget of 1 KiB, but the latest graph stays.
TEST_F(EngineGraphsTest, TheLeastRecentlyUsedGraphGoesWhenThereIsNoRoom) {
  EngineOptions options;
  options.graph_cache_bytes = 1024;
  EngineHarness harness({&fake_}, {kFake0}, options);
  harness.MustSubmit("a", AddChain(2, 1));
  const auto second = harness.MustSubmit("b", AddChain(2, 2));
  EXPECT_THAT(harness.engine().FindGraph("a", "ann"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'a'")));
  EXPECT_THAT(harness.engine().FindGraph("b", "ann"), IsOk());
  TestRun run(second, harness.engine(), {0, 0, 0, 0});
  run.Start();
  EXPECT_THAT(run.Output(), Each(4));
}

TEST(EngineCreateTest, SaysWhichDeviceIsWrong) {
  FakeBackend fake(BackendId::kVulkan);
  op_profile::OpProfile profile;
  HostServices services;
  const auto create = [&](std::vector<DeviceId> devices) {
    Backend* const backends[] = {&fake};
    return Engine::Create({}, backends, devices, profile, nullptr, services)
        .status();
  };
  EXPECT_THAT(create({}), StatusIs(absl::StatusCode::kInvalidArgument,
                                   HasSubstr("no device")));
  EXPECT_THAT(create({kFake0, kFake0}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("vulkan:0 is named twice")));
  EXPECT_THAT(create({{BackendId::kVulkan, 7}}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("vulkan:7")));
  EXPECT_THAT(create({{BackendId::kCuda, 0}}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cuda")));
}

}  // namespace
}  // namespace tensord
