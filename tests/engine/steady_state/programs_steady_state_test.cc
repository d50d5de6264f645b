// A run whose launches are a program allocates nothing of its own: what is
// counted is what the fake lane needs for the same calls.

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/steady_state/malloc_count.h"
#include "tests/support/execution_rig.h"
#include "tests/support/fake_backend.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

constexpr int kRuns = 1000;

class ProgramsSteadyStateTest : public testing::Test {
 protected:
  ProgramsSteadyStateTest() {
    graph_ = rig_.Compile(TestGraph()
                              .Input("x", DType::kFloat32, {4})
                              .Node("Relu", {"x"}, {"a"})
                              .Node("Add", {"a", "a"}, {"y"})
                              .Output("y"),
                          {Shape({4})});
    execution_.inputs.push_back(rig_.Value(Tensor({4}, {1, 2, 3, 4})));
  }

  void RunOnce() { ASSERT_THAT(rig_.Run(execution_, graph_), IsOk()); }

  // The calls that a run makes of its lane.
  void CallLane(const Program& program) {
    Lane& lane = rig_.slot().lane();
    const absl::Span<std::byte> bytes = execution_.inputs[0].bytes.bytes();
    const StorageView view{rig_.slot().arena(), 0, bytes.size()};
    ASSERT_THAT(lane.CopyToDevice(bytes, view), IsOk());
    ASSERT_THAT(lane.Submit(program), IsOk());
    ASSERT_THAT(lane.CopyToHost(view, bytes), IsOk());
    const absl::StatusOr<CompletionHandle> done = lane.RecordCompletion();
    ASSERT_THAT(done, IsOk());
    ASSERT_THAT(done->WaitUntil(absl::InfiniteFuture()), IsOk());
  }

  // What is called `kRuns` times allocates.
  template <typename Call>
  int64_t Allocations(Call call) {
    for (int i = 0; i < 10; ++i) call();
    const int64_t before = MallocCount();
    for (int i = 0; i < kRuns; ++i) call();
    return MallocCount() - before;
  }

  FakeBackend backend_{BackendId::kVulkan, {.records_programs = true}};
  ExecutionRig rig_{backend_};
  std::shared_ptr<const CompiledGraph> graph_;
  Execution execution_;
};

TEST_F(ProgramsSteadyStateTest, ARunAllocatesNoMoreThanItsLaneDoes) {
  for (int i = 0; i < 3; ++i) RunOnce();
  const LanePrograms::Recording* recording =
      rig_.slot().programs()->Find(*graph_, graph_->first, nullptr, 0);
  ASSERT_NE(recording->program, nullptr);
  const int64_t of_lane = Allocations([&] { CallLane(*recording->program); });
  const int64_t of_runs = Allocations([&] { RunOnce(); });
  // The lane's queue takes a block now and then.
  EXPECT_LE(of_runs, of_lane + kRuns / 20);
  EXPECT_GT(of_lane, kRuns) << "the fake lane does allocate";
}

// The count can fail.
TEST_F(ProgramsSteadyStateTest, AnAllocationInARunIsCounted) {
  for (int i = 0; i < 3; ++i) RunOnce();
  const int64_t of_runs = Allocations([&] { RunOnce(); });
  const int64_t with_one_more = Allocations([&] {
    RunOnce();
    ::operator delete(::operator new(1));
  });
  EXPECT_GT(with_one_more, of_runs + kRuns / 2);
}

}  // namespace
}  // namespace tensord
