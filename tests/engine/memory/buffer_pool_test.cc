#include "engine/memory/buffer_pool.h"

#include <cstring>
#include <utility>

#include "backends/api/host_memory_budget.h"
#include "backends/api/storage.h"
#include "gtest/gtest.h"
#include "tests/support/fake_backend.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

TEST(BufferPool, GivesAlignedMemoryOfTheSizeAskedFor) {
  BufferPool pool(1 << 20);
  for (size_t size : {0, 1, 63, 64, 65, 4096, (2 << 20) + 1}) {
    absl::StatusOr<PooledBuffer> buffer = pool.Allocate(size);
    ASSERT_THAT(buffer, IsOk());
    EXPECT_EQ(buffer->size(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % kStorageAlignment,
              0);
    std::memset(buffer->data(), 1, size);
  }
}

TEST(BufferPool, AReturnedBufferIsGivenAgain) {
  BufferPool pool(1 << 20);
  const std::byte* first = pool.Allocate(1000)->data();
  EXPECT_EQ(pool.idle_bytes(), 1024);
  EXPECT_EQ(pool.Allocate(700)->data(), first);  // of the same class
}

TEST(BufferPool, KeepsNoMoreIdleThanItsLimit) {
  BufferPool pool(1024);
  {
    absl::StatusOr<PooledBuffer> a = pool.Allocate(1024);
    absl::StatusOr<PooledBuffer> b = pool.Allocate(1024);
    EXPECT_EQ(pool.loaned_bytes(), 2048);
  }
  EXPECT_EQ(pool.idle_bytes(), 1024);
  EXPECT_EQ(pool.loaned_bytes(), 0);
}

TEST(BufferPool, ATruncatedBufferGoesBackWhole) {
  BufferPool pool(1 << 20);
  {
    absl::StatusOr<PooledBuffer> buffer = pool.Allocate(4096);
    buffer->Truncate(1);
    EXPECT_EQ(buffer->size(), 1);
  }
  EXPECT_EQ(pool.loaned_bytes(), 0);
  EXPECT_EQ(pool.idle_bytes(), 4096);
}

TEST(BufferPool, TakesBuffersFromItsBudgetAndGivesThemBack) {
  HostMemoryBudget budget(8192);
  {
    BufferPool pool(4096);
    pool.UseBudget(&budget);
    {
      const absl::StatusOr<PooledBuffer> a = pool.Allocate(4096);
      const absl::StatusOr<PooledBuffer> b = pool.Allocate(4096);
      EXPECT_EQ(budget.used_bytes(), 8192);
      EXPECT_THAT(pool.Allocate(1),
                  StatusIs(absl::StatusCode::kResourceExhausted,
                           ::testing::HasSubstr("8192 of 8192 in use")));
      EXPECT_EQ(pool.loaned_bytes(), 8192);
    }
    EXPECT_EQ(budget.used_bytes(), 4096);  // the one that is kept
  }
  EXPECT_EQ(budget.used_bytes(), 0);
}

TEST(BufferPool, GivesIdleBuffersUpBeforeItRefuses) {
  HostMemoryBudget budget(4096);
  BufferPool pool(1 << 20);
  pool.UseBudget(&budget);
  pool.Allocate(2048).value();
  EXPECT_EQ(pool.idle_bytes(), 2048);
  EXPECT_THAT(pool.Allocate(4096), IsOk());
  EXPECT_EQ(budget.used_bytes(), 4096);
}

TEST(BufferPool, MovingTransfersTheLoan) {
  BufferPool pool(1 << 20);
  PooledBuffer kept;
  {
    PooledBuffer moved = *pool.Allocate(64);
    kept = std::move(moved);
  }
  EXPECT_EQ(pool.loaned_bytes(), 64);
  kept = PooledBuffer();
  EXPECT_EQ(pool.loaned_bytes(), 0);
}

TEST(BufferPool, RefusesWhatNoMachineHas) {
  BufferPool pool(1 << 20);
  EXPECT_THAT(pool.Allocate(size_t{1} << 60),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       testing::HasSubstr("1152921504606846976 bytes")));
  EXPECT_EQ(pool.loaned_bytes(), 0);
}

TEST(BufferPool, PagesComeFromADeviceThatCopiesThemAndGoBackBeforeIt) {
  FakeBackend backend(BackendId::kVulkan);
  BufferPool pool(1 << 20);
  std::unique_ptr<Device> device = *backend.OpenDevice(0);
  pool.UseDevice(device.get());
  const auto alive = [&] { return backend.control(0).counts().storages_alive; };
  {
    const absl::StatusOr<PooledBuffer> small = pool.Allocate(100);
    EXPECT_EQ(alive(), 0) << "a page for 100 bytes would be a waste";
    const absl::StatusOr<PooledBuffer> large = pool.Allocate(5000);
    EXPECT_EQ(alive(), 1);
  }
  EXPECT_EQ(alive(), 1) << "kept for the next request";
  absl::StatusOr<PooledBuffer> loaned = pool.Allocate(5000);
  absl::StatusOr<PooledBuffer> other = pool.Allocate(5000);
  EXPECT_EQ(alive(), 2);
  *other = PooledBuffer();
  const uint64_t idle_bytes = pool.idle_bytes();
  pool.UseDevice(nullptr);
  EXPECT_EQ(alive(), 1);
  EXPECT_EQ(pool.idle_bytes(), idle_bytes - 8192);
  *loaned = PooledBuffer();
  EXPECT_EQ(alive(), 0) << "it is the device's that goes now";
  device.reset();
  EXPECT_THAT(pool.Allocate(5000), IsOk());
}

TEST(BufferPool, AFullOrLostDeviceIsNoReasonToRefuse) {
  FakeBackend backend(BackendId::kVulkan, {.memory_limit_bytes = 10'000});
  BufferPool pool(1 << 20);
  const std::unique_ptr<Device> device = *backend.OpenDevice(0);
  pool.UseDevice(device.get());
  {
    const absl::StatusOr<PooledBuffer> first = pool.Allocate(8000);
    const absl::StatusOr<PooledBuffer> second = pool.Allocate(8000);
    EXPECT_THAT(second, IsOk());
    EXPECT_EQ(backend.control(0).counts().storages_alive, 1);
    backend.control(0).Fault("the test says so");
    EXPECT_THAT(pool.Allocate(4096), IsOk());
  }
  pool.UseDevice(nullptr);
  EXPECT_EQ(backend.control(0).counts().storages_alive, 0);
}

}  // namespace
}  // namespace tensord
