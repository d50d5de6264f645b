// The tuner inside an engine, over siblings that are as fast and as right as
// the test says.

#include "engine/tune/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "tests/engine/tune/sibling_backend.h"
#include "tests/engine/tune/tuning_harness.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr DeviceId kCpu0{BackendId::kCpu, 0};
const std::vector<float> kInput = {-1, 2, -3, 4};
const Shape kShape{4};

class TunerTest : public ::testing::Test {
 protected:
  // The first sibling takes so long, and the second so long.
  void SetDelays(int64_t first_us, int64_t other_us,
                 int64_t portable_us = 4000) {
    backend_.control(SiblingBackend::kFirst).delay_us = first_us;
    backend_.control(SiblingBackend::kOther).delay_us = other_us;
    backend_.control(SiblingBackend::kPortable).delay_us = portable_us;
  }

  SiblingBackend backend_;
};

TEST_F(TunerTest, AFasterSiblingIsFoundUsedAndExplained) {
  SetDelays(2000, 0);
  EngineHarness harness({&backend_}, {kCpu0}, TuningOptions());
  Engine& engine = harness.engine();
  const auto graph = harness.MustSubmit("a", ReluGraph(4));
  EXPECT_EQ(ExplainFirst(engine, graph, kShape).kernel, "relu_first");
  EXPECT_THAT(RunOnce(engine, graph, kInput), ElementsAre(0, 2, 0, 4));
  ASSERT_TRUE(AwaitKernel(engine, graph, kShape, "relu_other"));
  const int64_t before = backend_.control(SiblingBackend::kFirst).launches;
  EXPECT_THAT(RunOnce(engine, graph, kInput), ElementsAre(0, 2, 0, 4));
  EXPECT_EQ(backend_.control(SiblingBackend::kFirst).launches, before);

  const ExplainedNode node = ExplainFirst(engine, graph, kShape);
  ASSERT_THAT(node.declined, SizeIs(1));
  EXPECT_EQ(node.declined[0].kernel, "relu_first");
  EXPECT_THAT(node.declined[0].reason, HasSubstr("slower when measured: "));
  const TuningStats stats = engine.Tuning();
  EXPECT_TRUE(stats.is_on);
  EXPECT_EQ(stats.faster, 1);
  EXPECT_EQ(stats.kept + stats.skipped + stats.failed, 0);
  EXPECT_EQ(stats.disagreements, 0);
  EXPECT_EQ(stats.remembered, 1);
  EXPECT_GT(stats.spent, absl::Milliseconds(10));
}

// Its check and one launch, of 25 rounds.
TEST_F(TunerTest, ASiblingWhoseLaunchesAreLongIsNotRaced) {
  SetDelays(2000, 0, 30'000);
  EngineOptions options = TuningOptions();
  options.tuning.trial.max_estimate = absl::Milliseconds(25);
  EngineHarness harness({&backend_}, {kCpu0}, options);
  RunOnce(harness.engine(), harness.MustSubmit("a", ReluGraph(4)), kInput);
  ASSERT_TRUE(AwaitDecisions(harness.engine(), 1));
  EXPECT_EQ(backend_.control(SiblingBackend::kPortable).launches, 2);
}

TEST_F(TunerTest, WithoutAClearWinTheFirstStays) {
  SetDelays(2000, 2000, 2000);
  EngineHarness harness({&backend_}, {kCpu0}, TuningOptions());
  const auto graph = harness.MustSubmit("a", ReluGraph(4));
  RunOnce(harness.engine(), graph, kInput);
  ASSERT_TRUE(AwaitDecisions(harness.engine(), 1));
  EXPECT_EQ(harness.engine().Tuning().kept, 1);
  EXPECT_EQ(ExplainFirst(harness.engine(), graph, kShape).kernel, "relu_first");
}

// Without the check it would be chosen: it is the fastest by far.
TEST_F(TunerTest, ASiblingBeyondTheToleranceIsNeverChosen) {
  SetDelays(2000, 0, 3000);
  backend_.control(SiblingBackend::kOther).error = 1e-3f;
  EngineHarness harness({&backend_}, {kCpu0}, TuningOptions());
  const auto graph = harness.MustSubmit("a", ReluGraph(4));
  RunOnce(harness.engine(), graph, kInput);
  ASSERT_TRUE(AwaitDecisions(harness.engine(), 1));
  EXPECT_EQ(harness.engine().Tuning().kept, 1);
  EXPECT_EQ(harness.engine().Tuning().disagreements, 1);
  EXPECT_EQ(ExplainFirst(harness.engine(), graph, kShape).kernel, "relu_first");
  EXPECT_THAT(RunOnce(harness.engine(), graph, kInput),
              ElementsAre(0, 2, 0, 4));
}

// What clients get does not change because the tuner ran.
TEST_F(TunerTest, WhereTheFirstIsBeyondTheToleranceNothingChanges) {
  SetDelays(2000, 0);
  backend_.control(SiblingBackend::kFirst).error = 1e-3f;
  EngineHarness harness({&backend_}, {kCpu0}, TuningOptions());
  const auto graph = harness.MustSubmit("a", ReluGraph(4));
  RunOnce(harness.engine(), graph, kInput);
  ASSERT_TRUE(AwaitDecisions(harness.engine(), 1));
  EXPECT_EQ(harness.engine().Tuning().kept, 1);
  EXPECT_EQ(harness.engine().Tuning().disagreements, 1);
  EXPECT_EQ(ExplainFirst(harness.engine(), graph, kShape).kernel, "relu_first");
}

TEST_F(TunerTest, AKernelThatFailsIsToldAndChangesNothing) {
  for (const int failing : {1, 2}) {
    SetDelays(1000, 0);
    backend_.control(SiblingBackend::kOther).failing = failing;
    EngineHarness harness({&backend_}, {kCpu0}, TuningOptions());
    const auto graph = harness.MustSubmit("a", ReluGraph(4));
    RunOnce(harness.engine(), graph, kInput);
    ASSERT_TRUE(AwaitDecisions(harness.engine(), 1));
    EXPECT_EQ(harness.engine().Tuning().failed, 1);
    EXPECT_THAT(harness.StatusOf(kCpu0).health, IsOk());
    EXPECT_THAT(RunOnce(harness.engine(), graph, kInput),
                ElementsAre(0, 2, 0, 4));
  }
}

// A graph of many equal layers would fail in each of them.
TEST_F(TunerTest, ASiteThatFailedIsNotTriedAgain) {
  SetDelays(1000, 0);
  backend_.control(SiblingBackend::kOther).failing = 1;
  EngineHarness harness({&backend_}, {kCpu0}, TuningOptions());
  Engine& engine = harness.engine();
  RunOnce(engine, harness.MustSubmit("a", ReluGraph(4)), kInput);
  ASSERT_TRUE(AwaitDecisions(engine, 1));
  // The longer one is taken first if both are there, and then the same site.
  RunOnce(engine, harness.MustSubmit("b", ReluGraph(4)), kInput);
  RunOnce(engine, harness.MustSubmit("c", ReluGraph(8)),
          std::vector<float>(8, 1.0f));
  ASSERT_TRUE(AwaitDecisions(engine, 2));
  EXPECT_FALSE(Await([&] { return engine.Tuning().failed > 2; },
                     absl::Milliseconds(100)));
}

// It was used by more runs, so it was the tuner's turn first.
TEST_F(TunerTest, DeterministicGraphsAreLeftAlone) {
  SetDelays(2000, 0);
  EngineOptions options = TuningOptions();
  options.tuning.min_uses = 2;
  EngineHarness harness({&backend_}, {kCpu0}, options);
  Engine& engine = harness.engine();
  Engine::Submission submission;
  submission.id = "d";
  submission.principal = "ann";
  submission.options.deterministic = true;
  submission.decode = [] { return ReluGraph(4); };
  absl::Notification done;
  std::shared_ptr<const LoadedGraph> deterministic;
  engine.SubmitGraph(std::move(submission),
                     [&](absl::StatusOr<Engine::SubmitOutcome> outcome) {
                       ASSERT_THAT(outcome, IsOk());
                       deterministic = outcome->graph;
                       done.Notify();
                     });
  done.WaitForNotification();
  for (int i = 0; i < 5; ++i) RunOnce(engine, deterministic, kInput);
  const auto other = harness.MustSubmit("a", ReluGraph(2));
  for (int i = 0; i < 2; ++i) RunOnce(engine, other, {1, -1});
  ASSERT_TRUE(AwaitKernel(engine, other, Shape{2}, "relu_other"));
  EXPECT_EQ(DecisionCount(engine.Tuning()), 1);
  EXPECT_EQ(ExplainFirst(engine, deterministic, kShape).kernel, "relu_first");
  // Nor does it use what was measured for another graph with the same node.
  const auto same = harness.MustSubmit("b", ReluGraph(4));
  for (int i = 0; i < 2; ++i) RunOnce(engine, same, kInput);
  ASSERT_TRUE(AwaitKernel(engine, same, kShape, "relu_other"));
  EXPECT_EQ(ExplainFirst(engine, deterministic, kShape).kernel, "relu_first");
}

TEST_F(TunerTest, WhatIsKnownOfOneGraphServesEveryOther) {
  SetDelays(2000, 0);
  EngineHarness harness({&backend_}, {kCpu0}, TuningOptions());
  const auto graph = harness.MustSubmit("a", ReluGraph(4));
  RunOnce(harness.engine(), graph, kInput);
  ASSERT_TRUE(AwaitDecisions(harness.engine(), 1));
  const auto other = harness.MustSubmit("b", ReluGraph(4));
  EXPECT_EQ(ExplainFirst(harness.engine(), other, kShape).kernel, "relu_other");
  EXPECT_EQ(DecisionCount(harness.engine().Tuning()), 1);
}

TEST_F(TunerTest, KeepsWithinItsBudget) {
  SetDelays(4000, 4000, 4000);
  EngineOptions options = TuningOptions();
  options.tuning.seconds_per_hour = 1;
  options.tuning.trial.max_rounds = 5;
  EngineHarness harness({&backend_}, {kCpu0}, options);
  Engine& engine = harness.engine();
  // 3 siblings, 6 launches of 4 ms each: 72 ms a trial, and 40 of them.
  constexpr int kShapes = 40;
  std::vector<std::vector<Shape>> shapes;
  for (int i = 1; i <= kShapes; ++i) shapes.push_back({Shape{i}});
  const auto outcome = harness.Submit("a", ReluGraph(0), "ann", shapes);
  ASSERT_THAT(outcome, IsOk());
  for (int i = 1; i <= kShapes; ++i) {
    RunOnce(engine, outcome->graph, std::vector<float>(i, 1.0f));
  }
  ASSERT_TRUE(Await([&] { return engine.Tuning().spent >= absl::Seconds(1); }));
  const uint64_t decisions = DecisionCount(engine.Tuning());
  EXPECT_FALSE(
      Await([&] { return DecisionCount(engine.Tuning()) > decisions + 1; },
            absl::Milliseconds(300)));
  EXPECT_LT(decisions, kShapes);
}

TEST_F(TunerTest, OffMeasuresNothingAndReadsNothing) {
  SetDelays(2000, 0);
  const ScratchFolder folder;
  EngineOptions options = TuningOptions(folder.path());
  options.tuning.is_on = false;
  EngineHarness harness({&backend_}, {kCpu0}, options);
  const auto graph = harness.MustSubmit("a", ReluGraph(4));
  RunOnce(harness.engine(), graph, kInput);
  EXPECT_FALSE(harness.engine().Tuning().is_on);
  EXPECT_EQ(backend_.control(SiblingBackend::kOther).launches, 0);
}

TEST_F(TunerTest, SurvivesARestartByItsFile) {
  SetDelays(2000, 0);
  const ScratchFolder folder;
  {
    EngineHarness harness({&backend_}, {kCpu0}, TuningOptions(folder.path()));
    const auto graph = harness.MustSubmit("a", ReluGraph(4));
    RunOnce(harness.engine(), graph, kInput);
    ASSERT_TRUE(AwaitKernel(harness.engine(), graph, kShape, "relu_other"));
  }
  ASSERT_THAT(folder.files(), SizeIs(1));
  EXPECT_THAT(ReadWhole(folder.files()[0]), HasSubstr("* relu_other "));
  const int64_t launches = backend_.control(SiblingBackend::kFirst).launches;
  EngineHarness harness({&backend_}, {kCpu0}, TuningOptions(folder.path()));
  EXPECT_EQ(harness.engine().Tuning().remembered, 1);
  const auto graph = harness.MustSubmit("a", ReluGraph(4));
  EXPECT_EQ(ExplainFirst(harness.engine(), graph, kShape).kernel, "relu_other");
  EXPECT_THAT(RunOnce(harness.engine(), graph, kInput),
              ElementsAre(0, 2, 0, 4));
  EXPECT_EQ(backend_.control(SiblingBackend::kFirst).launches, launches);
}

TEST_F(TunerTest, AFileThatIsWrongOrOfOtherKernelsIsIgnored) {
  SetDelays(2000, 0);
  const ScratchFolder folder;
  {
    EngineHarness harness({&backend_}, {kCpu0}, TuningOptions(folder.path()));
    const auto graph = harness.MustSubmit("a", ReluGraph(4));
    RunOnce(harness.engine(), graph, kInput);
    ASSERT_TRUE(AwaitKernel(harness.engine(), graph, kShape, "relu_other"));
  }
  const std::string path = folder.files().at(0);
  const std::string right = ReadWhole(path);
  const auto remembered = [&] {
    EngineHarness harness({&backend_}, {kCpu0}, TuningOptions(folder.path()));
    return harness.engine().Tuning().remembered;
  };
  EXPECT_EQ(remembered(), 1);
  WriteWhole(path, right.substr(0, right.size() / 2));
  EXPECT_EQ(remembered(), 0);
  WriteWhole(path, right);
  backend_.set_revision(2);
  EXPECT_EQ(remembered(), 0);
}

TEST_F(TunerTest, AFolderThatIsNotThereHurtsNobody) {
  SetDelays(2000, 0);
  EngineHarness harness({&backend_}, {kCpu0}, TuningOptions("/no/such/folder"));
  const auto graph = harness.MustSubmit("a", ReluGraph(4));
  RunOnce(harness.engine(), graph, kInput);
  EXPECT_TRUE(AwaitKernel(harness.engine(), graph, kShape, "relu_other"));
}

// Four clients of one graph each, which are measured and swapped meanwhile.
TEST_F(TunerTest, RunsGoOnWhileGraphsAreSwapped) {
  SetDelays(5000, 0, 8000);
  EngineHarness harness({&backend_}, {kCpu0}, TuningOptions());
  Engine& engine = harness.engine();
  const auto graph = harness.MustSubmit("a", ReluGraph(0));
  std::atomic<bool> is_done{false};
  std::vector<std::thread> clients;
  for (int t = 0; t < 4; ++t) {
    clients.emplace_back([&, t] {
      const std::vector<float> x(t + 1, 3.0f);
      while (!is_done) EXPECT_THAT(RunOnce(engine, graph, x), Each(3.0f));
    });
  }
  // With four clients the device is hardly ever idle, so that is waited for
  // only once they are gone.
  Await([&] { return DecisionCount(engine.Tuning()) >= 1; },
        absl::Milliseconds(300));
  is_done = true;
  for (std::thread& client : clients) client.join();
  for (int t = 0; t < 4; ++t) {
    EXPECT_TRUE(AwaitKernel(engine, graph, Shape{t + 1}, "relu_other"));
  }
}

}  // namespace
}  // namespace tensord
