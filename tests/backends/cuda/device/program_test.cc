// Recorded programs and time marks.

#include <vector>

#include "tests/backends/cuda/device/emulated_gpu.h"

namespace tensord::cuda {
namespace {

using ::testing::HasSubstr;

class CudaProgramTest : public EmulatedGpuTest {};

TEST_F(CudaProgramTest, RunsWhenItIsSubmittedAndNotBefore) {
  const auto first = PatternBytes(4096, 1);
  const auto second = PatternBytes(4096, 2);
  const auto x = Upload(first);
  const auto y = Upload(std::vector<std::byte>(4096));
  const auto z = Allocate(4096);
  ASSERT_THAT(lane().BeginRecording(), IsOk());
  ASSERT_THAT(LaunchIdentity(*x, *y), IsOk());
  ASSERT_THAT(lane().Copy(WholeOf(*y), WholeOf(*z)), IsOk());
  const auto program = lane().EndRecording();
  ASSERT_THAT(program, IsOk());
  EXPECT_EQ(Download(*y), std::vector<std::byte>(4096));

  ASSERT_THAT(lane().Submit(**program), IsOk());
  EXPECT_EQ(Download(*z), first);
  // It reads what is there at each submission.
  ASSERT_THAT(lane().CopyToDevice(second, WholeOf(*x)), IsOk());
  ASSERT_THAT(lane().Submit(**program), IsOk());
  EXPECT_EQ(Download(*z), second);
}

TEST_F(CudaProgramTest, OfManyLaunchesIsOneSubmission) {
  const auto x = Upload(PatternBytes(64));
  const auto y = Allocate(64);
  ASSERT_THAT(lane().BeginRecording(), IsOk());
  for (int i = 0; i < 100; ++i) {
    ASSERT_THAT(LaunchIdentity(*x, *y), IsOk());
  }
  const auto program = lane().EndRecording();
  ASSERT_THAT(program, IsOk());
  Finish();
  const emulation::Counts before = counts();
  ASSERT_THAT(lane().Submit(**program), IsOk());
  Finish();
  EXPECT_EQ(counts().launches - before.launches, 100);
  EXPECT_EQ(counts().graph_launches - before.graph_launches, 1);
  // The graph and the event of the completion.
  EXPECT_EQ(counts().submissions - before.submissions, 2);
  EXPECT_EQ(counts().events_recorded - before.events_recorded, 1);
  EXPECT_EQ(counts().allocations, before.allocations);
}

TEST_F(CudaProgramTest, WhatCannotBeRecordedIsRefusedAndFailsTheRecording) {
  std::vector<std::byte> host(64);
  const auto x = Upload(host);
  const auto is_refused =
      StatusIs(absl::StatusCode::kInternal, HasSubstr("while a lane records"));
  ASSERT_THAT(lane().BeginRecording(), IsOk());
  EXPECT_THAT(lane().BeginRecording(), is_refused);
  EXPECT_THAT(lane().CopyToDevice(host, WholeOf(*x)), is_refused);
  EXPECT_THAT(lane().CopyToHost(WholeOf(*x), absl::MakeSpan(host)), is_refused);
  EXPECT_THAT(lane().RecordCompletion(), is_refused);
  EXPECT_THAT(lane().Drain(absl::InfiniteFuture()), is_refused);
  EXPECT_THAT(lane().EndRecording(), is_refused);
  EXPECT_THAT(lane().EndRecording(),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("no recording")));
  Finish();  // the lane is as before
}

TEST_F(CudaProgramTest, ARecordingThatNobodyEndedGoesWithItsLane) {
  ASSERT_THAT(lane().BeginRecording(), IsOk());
  Close();
  EXPECT_EQ(counts().streams_alive, 0);
}

TEST_F(CudaProgramTest, TimeMarksTellTheTimeBetweenLaunches) {
  const auto x = Upload(PatternBytes(1 << 16));
  const auto y = Allocate(1 << 16);
  ASSERT_THAT(lane().ReserveTimeMarks(3), IsOk());
  const auto enqueue = [&] {
    for (int mark = 0; mark < 3; ++mark) {
      ASSERT_THAT(lane().RecordTimeMark(mark), IsOk());
      ASSERT_THAT(LaunchIdentity(*x, *y), IsOk());
    }
  };
  std::vector<int64_t> times(3);
  enqueue();
  Finish();
  ASSERT_THAT(lane().ReadTimeMarks(absl::MakeSpan(times)), IsOk());
  EXPECT_EQ(times[0], 0);
  EXPECT_GT(times[1], 0);
  EXPECT_GT(times[2], times[1]);

  // In a program each submission passes them again.
  ASSERT_THAT(lane().BeginRecording(), IsOk());
  enqueue();
  const auto program = lane().EndRecording();
  ASSERT_THAT(program, IsOk());
  for (int i = 0; i < 2; ++i) {
    ASSERT_THAT(lane().Submit(**program), IsOk());
    Finish();
    ASSERT_THAT(lane().ReadTimeMarks(absl::MakeSpan(times)), IsOk());
    EXPECT_GT(times[2], times[1]);
  }
}

TEST_F(CudaProgramTest, TimeMarksThatWereNotReservedAreRefused) {
  std::vector<int64_t> times(1);
  EXPECT_THAT(lane().RecordTimeMark(0),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("0 of 0")));
  EXPECT_THAT(lane().ReadTimeMarks(absl::MakeSpan(times)),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("1 time marks")));
}

}  // namespace
}  // namespace tensord::cuda
