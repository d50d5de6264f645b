#include "engine/memory/weight_store.h"

#include <cstring>

#include "backends/api/packed_weights.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "gtest/gtest.h"
#include "tests/support/fake_backend.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

HostTensor Floats(std::vector<float> values) {
  const auto count = static_cast<int64_t>(values.size());
  return HostTensor::Make(
      DType::kFloat32, Shape({count}), [&](absl::Span<std::byte> bytes) {
        std::memcpy(bytes.data(), values.data(), bytes.size());
      });
}

class WeightStoreTest : public testing::Test {
 protected:
  WeightStoreTest()
      : device_(*backend_.OpenDevice(0)), lane_(*device_->CreateLane()) {}

  FakeBackend backend_{BackendId::kVulkan};
  std::unique_ptr<Device> device_;
  std::unique_ptr<Lane> lane_;
};

TEST_F(WeightStoreTest, EqualBytesAreResidentOnce) {
  WeightStore store(*device_);
  const auto a = store.Get(Floats({1, 2, 3}), *lane_);
  const auto b = store.Get(Floats({1, 2, 3}), *lane_);
  ASSERT_THAT(a, IsOk());
  EXPECT_EQ(*a, *b);
  EXPECT_EQ(store.resident_bytes(), 12);
  EXPECT_EQ(backend_.control(0).counts().storages_alive, 1);
}

TEST_F(WeightStoreTest, OtherBytesOfTheSameShapeAreAnotherWeight) {
  WeightStore store(*device_);
  const auto a = store.Get(Floats({1, 2, 3}), *lane_);
  const auto b = store.Get(Floats({1, 2, 4}), *lane_);
  EXPECT_NE(*a, *b);
}

TEST_F(WeightStoreTest, TheBytesAreThereWhenGetReturns) {
  WeightStore store(*device_);
  const auto weight = store.Get(Floats({5, 6}), *lane_);
  float values[2] = {};
  const StorageView view{(*weight)->storage.get(), 0, 8};
  ASSERT_THAT(
      lane_->CopyToHost(view, {reinterpret_cast<std::byte*>(values), 8}),
      IsOk());
  ASSERT_THAT(lane_->Drain(absl::InfiniteFuture()), IsOk());
  EXPECT_EQ(values[1], 6);
}

TEST_F(WeightStoreTest, TheLastHolderFreesTheStorage) {
  WeightStore store(*device_);
  store.Get(Floats({1}), *lane_)->reset();
  EXPECT_EQ(store.resident_bytes(), 0);
  EXPECT_EQ(backend_.control(0).counts().storages_alive, 0);
}

// The store and what a device packs go by the same digest.
TEST_F(WeightStoreTest, ADeviceThatPacksDoesNotHashAgain) {
  HostWorkerPool workers(2);
  const std::unique_ptr<Backend> cpu = MakeCpuBackend({.workers = &workers});
  const std::unique_ptr<Device> device = *cpu->OpenDevice(0);
  const std::unique_ptr<Lane> lane = *device->CreateLane();
  ContentDigests& digests = dynamic_cast<HasPackedWeights&>(*device).digests();
  WeightStore store(*device);
  const HostTensor tensor = Floats(std::vector<float>(1000, 1.f));
  ASSERT_THAT(store.Get(tensor, *lane), IsOk());
  EXPECT_EQ(digests.hash_count(), 1);
  digests.Of(tensor.bytes());
  EXPECT_EQ(digests.hash_count(), 1);
}

TEST_F(WeightStoreTest, AFullDeviceIsAStatus) {
  FakeBackend small(BackendId::kCuda, {.memory_limit_bytes = 64});
  std::unique_ptr<Device> device = *small.OpenDevice(0);
  std::unique_ptr<Lane> lane = *device->CreateLane();
  WeightStore store(*device);
  EXPECT_THAT(
      store.Get(Floats(std::vector<float>(100, 1.f)), *lane),
      StatusIs(absl::StatusCode::kResourceExhausted, testing::HasSubstr("64")));
}

}  // namespace
}  // namespace tensord
