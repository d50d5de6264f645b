#include <memory>
#include <vector>

#include "engine/compiled/compiled_node.h"
#include "gtest/gtest.h"
#include "tests/support/fake_backend.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using testing::HasSubstr;
using State = CompletionHandle::State;

// y = relu(x) on an asynchronous device that does nothing until it is told.
class ExecuteCompiledTest : public testing::Test {
 protected:
  ExecuteCompiledTest() {
    EXPECT_THAT(table_.AddBackend(backend_), IsOk());
    device_ = *backend_.OpenDevice(0);
    lane_ = *device_->CreateLane();
    x_ = *device_->AllocateHostVisible(32);
    y_ = *device_->AllocateHostVisible(32);
    Floats(*x_)[3] = 5;
    Floats(*y_)[3] = 0;  // storages come uninitialised
    node_ = *CompileNode(OpKind::kRelu, {DType::kFloat32, DType::kFloat32}, 1,
                         BackendId::kVulkan, NoParams{}, table_);
  }

  static float* Floats(const Storage& storage) {
    return reinterpret_cast<float*>(storage.address());
  }

  absl::StatusOr<CompletionHandle> Launch(bool will_be_waited) {
    const LaunchContext context{.lane = lane_.get()};
    const StorageView input{x_.get(), 0, 32};
    const StorageView output{y_.get(), 0, 32};
    return ExecuteCompiledWithWaitHint(context, node_, {&input, 1},
                                       {&output, 1}, layouts_, will_be_waited);
  }

  FakeControl& control() { return backend_.control(0); }

  FakeBackend backend_{BackendId::kVulkan};
  KernelBindingTable table_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<const Storage> x_, y_;
  std::unique_ptr<Lane> lane_;
  CompiledNode node_;
  std::vector<Layout> layouts_{2, Layout::Contiguous(Shape({8}))};
};

TEST_F(ExecuteCompiledTest, AWaitedLaunchIsPendingUntilTheDeviceIsDone) {
  const FakePause pause(control());
  const auto handle = Launch(/*will_be_waited=*/true);
  ASSERT_THAT(handle, IsOk());
  EXPECT_EQ(handle->state(), State::kPending);
  EXPECT_FALSE(handle->IsReady());
  EXPECT_EQ(Floats(*y_)[3], 0);
  control().Step(0);
  ASSERT_THAT(handle->WaitUntil(absl::InfiniteFuture()), IsOk());
  EXPECT_EQ(Floats(*y_)[3], 5);
}

TEST_F(ExecuteCompiledTest, AnUnwaitedLaunchIsSubmittedAndRecordsNoEvent) {
  const auto handle = Launch(/*will_be_waited=*/false);
  ASSERT_THAT(handle, IsOk());
  EXPECT_EQ(handle->state(), State::kSubmitted);
  EXPECT_EQ(control().counts().completions_recorded, 0);
}

TEST_F(ExecuteCompiledTest, ALaterPendingCoversEarlierSubmittedLaunches) {
  const FakePause pause(control());
  ASSERT_THAT(Launch(false), IsOk());
  ASSERT_THAT(Launch(false), IsOk());
  const auto last = Launch(true);
  EXPECT_EQ(control().counts().completions_recorded, 1);
  control().Step(0, 2);
  EXPECT_FALSE(last->IsReady());
  control().Step(0);
  EXPECT_THAT(last->WaitUntil(absl::InfiniteFuture()), IsOk());
}

TEST_F(ExecuteCompiledTest, ExecuteCompiledIsTheWaitedForm) {
  const LaunchContext context{.lane = lane_.get()};
  const StorageView input{x_.get(), 0, 32};
  const StorageView output{y_.get(), 0, 32};
  const auto handle =
      ExecuteCompiled(context, node_, {&input, 1}, {&output, 1}, layouts_);
  EXPECT_EQ(handle->state(), State::kPending);
}

TEST_F(ExecuteCompiledTest, AFaultReachesEveryWaiter) {
  const FakePause pause(control());
  const auto first = Launch(true);
  const auto second = Launch(true);
  int called = 0;
  second->OnReady([&](const absl::Status& status) {
    called += status.code() == absl::StatusCode::kUnavailable;
  });
  control().Fault("lost");
  EXPECT_THAT(first->WaitUntil(absl::InfiniteFuture()),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("lost")));
  EXPECT_THAT(second->WaitUntil(absl::InfiniteFuture()),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("lost")));
  EXPECT_EQ(called, 1);  // Fault() returns after the callbacks
  EXPECT_THAT(Launch(true),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("lost")));
}

TEST_F(ExecuteCompiledTest, ALayoutThatTheKernelCannotTakeIsRefused) {
  layouts_[0].strides[0] = 2;
  EXPECT_THAT(Launch(true),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("input 0 of Relu is not contiguous")));
}

TEST_F(ExecuteCompiledTest, AHandleMayBeDroppedInFlight) {
  const FakePause pause(control());
  { const auto dropped = Launch(true); }
  control().Step(0);
  EXPECT_EQ(Floats(*y_)[3], 5);
  EXPECT_EQ(control().counts().dropped_in_flight, 0);
}

}  // namespace
}  // namespace tensord
