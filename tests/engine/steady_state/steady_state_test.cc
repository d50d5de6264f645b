// After the first execution of a graph, none allocates.

#include <memory>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "backends/cpu/cpu_backend.h"
#include "engine/engine.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/engine_harness.h"
#include "tests/engine/steady_state/malloc_count.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

constexpr DeviceId kCpu0{BackendId::kCpu, 0};
constexpr int kRuns = 10'000;

// One execution object that is used again and again, as a server's pool does.
// Waits without an allocation of its own.
struct Reused {
  Execution execution;
  absl::Mutex mu;
  bool is_done = false;
  int failures = 0;
  bool allocates = false;  // the negative control

  static void Answered(Execution& execution) {
    auto* self = static_cast<Reused*>(execution.user);
    // Not a new expression, which the compiler may leave out.
    if (self->allocates) ::operator delete(::operator new(1));
    absl::MutexLock lock(&self->mu);
    self->failures += !execution.status.ok();
    self->is_done = true;
  }

  void RunOnce(Engine& engine) {
    engine.Start(execution);
    absl::MutexLock lock(&mu);
    mu.Await(absl::Condition(&is_done));
    is_done = false;
  }
};

class SteadyStateTest : public ::testing::Test {
 protected:
  // Allocations of `kRuns` runs after the first few.
  int64_t CountAllocations(const EngineOptions& options, bool allocates,
                           absl::Time deadline = absl::InfiniteFuture()) {
    EngineHarness harness({cpu_.get()}, {kCpu0}, options);
    Reused run;
    run.execution.graph = harness.MustSubmit("a", AddChain(5, 1));
    run.execution.inputs.push_back(FloatInput(harness.engine(), {1, 2, 3, 4}));
    run.execution.on_done = &Reused::Answered;
    run.execution.user = &run;
    run.execution.deadline = deadline;
    run.allocates = allocates;
    // Every lane runs once, so that each has its arena.
    for (int i = 0; i < 200; ++i) run.RunOnce(harness.engine());
    const int64_t before = MallocCount();
    for (int i = 0; i < kRuns; ++i) run.RunOnce(harness.engine());
    const int64_t allocations = MallocCount() - before;
    EXPECT_EQ(run.failures, 0);
    EXPECT_EQ(harness.StatusOf(kCpu0).completed, kRuns + 200);
    run.execution.inputs.clear();
    run.execution.outputs.clear();
    return allocations;
  }

  static EngineOptions Queued() {
    EngineOptions options;
    options.inline_limit = absl::ZeroDuration();
    options.lanes_per_device = 1;
    return options;
  }

  HostWorkerPool workers_{1};
  HostServices services_{.workers = &workers_};
  std::unique_ptr<Backend> cpu_ = MakeCpuBackend(services_);
};

TEST_F(SteadyStateTest, TenThousandInlineRunsAllocateNothing) {
  EXPECT_EQ(CountAllocations({}, false), 0);
}

TEST_F(SteadyStateTest, TenThousandQueuedRunsAllocateNothing) {
  EXPECT_EQ(CountAllocations(Queued(), false), 0);
}

TEST_F(SteadyStateTest, NorDoRunsWithADeadline) {
  EXPECT_EQ(CountAllocations(Queued(), false, absl::Now() + absl::Minutes(10)),
            0);
}

// The count can fail: one allocation a run is seen as one.
TEST_F(SteadyStateTest, AnAllocationInARunIsCounted) {
  EXPECT_EQ(CountAllocations({}, true), kRuns);
  EXPECT_EQ(CountAllocations(Queued(), true), kRuns);
}

}  // namespace
}  // namespace tensord
