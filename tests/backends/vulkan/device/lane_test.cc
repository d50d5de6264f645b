// Batches, barriers and programs of a lane.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "backends/vulkan/vulkan_backend.h"
#include "tests/support/backend_test.h"
#include "tests/support/broken_vulkan.h"
#include "tests/support/matchers.h"

namespace tensord::vulkan {
namespace {

class VulkanLaneTest : public ::testing::Test {
 protected:
  static constexpr int64_t kElements = 100;

  // y = x + x, by the backend's own kernel, from one storage to another.
  void EnqueueDoubling(Lane& lane, const Storage& x, const Storage& y) {
    const DType dtypes[] = {DType::kFloat32, DType::kFloat32, DType::kFloat32};
    const std::vector<Layout> layouts(3,
                                      Layout::Contiguous(Shape({kElements})));
    const OpParams params = NoParams{};
    const NodeSite site{OpKind::kAdd, dtypes, 2, layouts, {}, params};
    states_.push_back(add_->prepare(site, *device_).value());
    LaunchContext context;
    context.lane = &lane;
    const StorageView inputs[] = {WholeOf(x), WholeOf(x)};
    const StorageView outputs[] = {WholeOf(y)};
    ASSERT_THAT(add_->run({context, inputs, outputs, layouts, params,
                           states_.back().get()}),
                IsOk());
  }

  std::unique_ptr<Storage> Floats(float value) {
    const std::vector<float> values(kElements, value);
    std::unique_ptr<Storage> storage =
        device_->Allocate(kElements * sizeof(float)).value();
    EXPECT_THAT(lane_->CopyToDevice(
                    absl::MakeConstSpan(
                        reinterpret_cast<const std::byte*>(values.data()),
                        storage->size_bytes()),
                    WholeOf(*storage)),
                IsOk());
    return storage;
  }

  float FirstOf(const Storage& storage) {
    std::vector<float> values(kElements);
    EXPECT_THAT(lane_->CopyToHost(
                    WholeOf(storage),
                    absl::MakeSpan(reinterpret_cast<std::byte*>(values.data()),
                                   storage.size_bytes())),
                IsOk());
    EXPECT_THAT(lane_->Drain(absl::InfiniteFuture()), IsOk());
    return values[0];
  }

  const BrokenVulkan broken_;
  CommandJournal journal_;
  std::unique_ptr<Backend> backend_ = MakeVulkanBackend(
      HostServices{}, {.loader = BrokenVulkan::loader(), .journal = &journal_});
  std::unique_ptr<Device> device_ = backend_->OpenDevice(0).value();
  std::unique_ptr<Lane> lane_ = device_->CreateLane().value();
  const KernelEntry* const add_ = [this] {
    for (const KernelEntry& kernel : backend_->kernels()) {
      if (std::string(kernel.name) == "add_f32") return &kernel;
    }
    return static_cast<const KernelEntry*>(nullptr);
  }();
  std::vector<std::unique_ptr<KernelState>> states_;
};

TEST_F(VulkanLaneTest, AChainOfKernelsIsOrderedByBarriersAlone) {
  std::unique_ptr<Storage> a = Floats(1);
  std::unique_ptr<Storage> b = Floats(0);
  ASSERT_THAT(lane_->Drain(absl::InfiniteFuture()), IsOk());
  BrokenVulkan::submission_count = 0;
  for (int i = 0; i < 10; ++i)
    EnqueueDoubling(*lane_, i % 2 ? *b : *a, i % 2 ? *a : *b);
  EXPECT_EQ(FirstOf(*a), 1024);
  EXPECT_EQ(BrokenVulkan::submission_count, 1);
}

TEST_F(VulkanLaneTest, KernelsThatShareNothingHaveNoBarrierBetweenThem) {
  std::unique_ptr<Storage> x = Floats(1);
  std::vector<std::unique_ptr<Storage>> outputs;
  for (int i = 0; i < 8; ++i) outputs.push_back(Floats(0));
  ASSERT_THAT(lane_->Drain(absl::InfiniteFuture()), IsOk());
  BrokenVulkan::barrier_count = 0;
  for (const auto& y : outputs) EnqueueDoubling(*lane_, *x, *y);
  // The command buffer's own at its begin.
  EXPECT_EQ(BrokenVulkan::barrier_count, 1);
  EnqueueDoubling(*lane_, *outputs[0], *x);
  EXPECT_EQ(BrokenVulkan::barrier_count, 2);
  EXPECT_EQ(FirstOf(*x), 4);
}

// What the check of all recordings finds where a barrier is missing.
TEST_F(VulkanLaneTest, WithoutAnyOneBarrierAHazardIsFound) {
  std::unique_ptr<Storage> a = Floats(1);
  std::unique_ptr<Storage> b = Floats(0);
  std::unique_ptr<Storage> c = Floats(0);
  ASSERT_THAT(lane_->Drain(absl::InfiniteFuture()), IsOk());
  journal_.Take();
  EnqueueDoubling(*lane_, *a, *b);  // read after write,
  EnqueueDoubling(*lane_, *b, *c);
  EnqueueDoubling(*lane_, *a, *b);  // write after read,
  EnqueueDoubling(*lane_, *c, *b);  // write after write,
  ASSERT_THAT(lane_->Copy(WholeOf(*b), WholeOf(*a)), IsOk());  // and copies
  EXPECT_EQ(FirstOf(*a), 8);
  const std::vector<CommandJournal::Recording> recordings = journal_.Take();
  ASSERT_EQ(recordings.size(), 1u);
  const std::vector<CommandJournal::Entry>& entries = recordings[0].entries;
  EXPECT_THAT(FindHazards(entries), ::testing::IsEmpty());
  int barriers = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].is_barrier) continue;
    ++barriers;
    std::vector<CommandJournal::Entry> without = entries;
    without.erase(without.begin() + i);
    EXPECT_THAT(FindHazards(without), ::testing::Not(::testing::IsEmpty()))
        << "barrier " << i;
  }
  EXPECT_EQ(barriers, 5);
}

TEST_F(VulkanLaneTest, ManyCommandsAreSubmittedBeforeAnybodyWaits) {
  std::unique_ptr<Storage> a = Floats(0);
  std::unique_ptr<Storage> b = Floats(0);
  ASSERT_THAT(lane_->Drain(absl::InfiniteFuture()), IsOk());
  BrokenVulkan::submission_count = 0;
  for (int i = 0; i < 1000; ++i) EnqueueDoubling(*lane_, *a, *b);
  EXPECT_GE(BrokenVulkan::submission_count, 3);
  EXPECT_LE(BrokenVulkan::submission_count, 40);
  EXPECT_THAT(lane_->Drain(absl::InfiniteFuture()), IsOk());
}

TEST_F(VulkanLaneTest, AProgramIsOneSubmissionHoweverManyKernelsItHas) {
  std::unique_ptr<Storage> a = Floats(1);
  std::unique_ptr<Storage> b = Floats(0);
  ASSERT_THAT(lane_->BeginRecording(), IsOk());
  for (int i = 0; i < 500; ++i) {
    EnqueueDoubling(*lane_, *a, *b);
    ASSERT_THAT(lane_->Copy(WholeOf(*b), WholeOf(*a)), IsOk());
    if (i % 2 == 1) continue;
    // Back to where it was, so that it does not overflow.
    EnqueueDoubling(*lane_, *a, *b);
  }
  std::unique_ptr<Program> program = lane_->EndRecording().value();
  EXPECT_EQ(FirstOf(*a), 1);  // it was recorded, not run
  BrokenVulkan::submission_count = 0;
  ASSERT_THAT(lane_->Submit(*program), IsOk());
  ASSERT_THAT(lane_->Drain(absl::InfiniteFuture()), IsOk());
  EXPECT_EQ(BrokenVulkan::submission_count, 1);
}

TEST_F(VulkanLaneTest, AProgramCanBeSubmittedAgainWhileItRuns) {
  std::unique_ptr<Storage> a = Floats(1);
  std::unique_ptr<Storage> b = Floats(0);
  ASSERT_THAT(lane_->BeginRecording(), IsOk());
  EnqueueDoubling(*lane_, *a, *b);
  EnqueueDoubling(*lane_, *b, *a);
  std::unique_ptr<Program> program = lane_->EndRecording().value();
  for (int i = 0; i < 5; ++i) {
    ASSERT_THAT(lane_->Submit(*program), IsOk());
    // Other work of the lane keeps its place among them.
    EnqueueDoubling(*lane_, *a, *b);
  }
  EXPECT_EQ(FirstOf(*b), 2048);
  EXPECT_EQ(FirstOf(*a), 1024);
}

TEST_F(VulkanLaneTest, CopiesWithTheHostCannotBeRecorded) {
  std::unique_ptr<Storage> a = Floats(1);
  std::vector<std::byte> host(kElements * sizeof(float));
  ASSERT_THAT(lane_->BeginRecording(), IsOk());
  EXPECT_THAT(lane_->CopyToHost(WholeOf(*a), absl::MakeSpan(host)),
              StatusIs(absl::StatusCode::kInternal,
                       ::testing::HasSubstr("while a lane records")));
  EXPECT_FALSE(lane_->EndRecording().ok());
  EXPECT_EQ(FirstOf(*a), 1);  // the lane is well
}

TEST_F(VulkanLaneTest, TimeMarksTellTheTimeBetweenThem) {
  if (!device_->info().has_timestamps) GTEST_SKIP() << "no timestamps";
  std::unique_ptr<Storage> a = Floats(1);
  std::unique_ptr<Storage> b = Floats(0);
  ASSERT_THAT(lane_->ReserveTimeMarks(300), IsOk());
  ASSERT_THAT(lane_->RecordTimeMark(0), IsOk());
  for (int i = 1; i < 300; ++i) {
    EnqueueDoubling(*lane_, *a, *b);
    ASSERT_THAT(lane_->RecordTimeMark(i), IsOk());
  }
  ASSERT_THAT(lane_->Drain(absl::InfiniteFuture()), IsOk());
  std::vector<int64_t> times(300);
  ASSERT_THAT(lane_->ReadTimeMarks(absl::MakeSpan(times)), IsOk());
  EXPECT_EQ(times[0], 0);
  for (int i = 1; i < 300; ++i) EXPECT_GE(times[i], times[i - 1]) << i;
  EXPECT_GT(times[299], 0);
  EXPECT_THAT(lane_->RecordTimeMark(300),
              StatusIs(absl::StatusCode::kInternal,
                       ::testing::HasSubstr("300 of 300")));
}

}  // namespace
}  // namespace tensord::vulkan
