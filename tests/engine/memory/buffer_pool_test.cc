#include "engine/memory/buffer_pool.h"

#include <cstring>
#include <utility>

#include "backends/api/storage.h"
#include "gtest/gtest.h"
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

}  // namespace
}  // namespace tensord
