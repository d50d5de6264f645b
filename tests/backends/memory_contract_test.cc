// What every device promises about memory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/backend_test.h"

namespace tensord {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class MemoryContract : public BackendTest {};

TEST_P(MemoryContract, StoragesAreAlignedAndKnowTheirSizeAndDevice) {
  for (uint64_t size : {1, 63, 64, 65, 4096, 3 << 20}) {
    std::unique_ptr<Storage> storage = Allocate(size);
    EXPECT_EQ(storage->size_bytes(), size);
    EXPECT_EQ(storage->device(), device().info().id);
    EXPECT_EQ(
        reinterpret_cast<uintptr_t>(storage->address()) % kStorageAlignment,
        0u);
    EXPECT_EQ(storage->is_host_addressable(),
              device().info().is_host_addressable);
  }
}

TEST_P(MemoryContract, AllocatedBytesAreThoseAlive) {
  const uint64_t before = device().allocated_bytes();
  std::unique_ptr<Storage> first = Allocate(1000);
  std::unique_ptr<Storage> second = Allocate(24);
  EXPECT_EQ(device().allocated_bytes(), before + 1024);
  first.reset();
  EXPECT_EQ(device().allocated_bytes(), before + 24);
  second.reset();
  EXPECT_EQ(device().allocated_bytes(), before);
}

TEST_P(MemoryContract, AZeroSizeIsAStorageLikeAnyOther) {
  std::unique_ptr<Storage> storage = Allocate(0);
  ASSERT_NE(storage, nullptr);
  EXPECT_EQ(storage->size_bytes(), 0u);
  const StorageView view = WholeOf(*storage);
  EXPECT_TRUE(view.is_present());
  EXPECT_THAT(lane().CopyToDevice({}, view), IsOk());
  EXPECT_THAT(lane().CopyToHost(view, {}), IsOk());
  EXPECT_THAT(lane().Copy(view, view), IsOk());
  Finish(lane());
}

TEST_P(MemoryContract, HostVisibleMemoryIsReadInPlace) {
  std::unique_ptr<Storage> storage = device().AllocateHostVisible(100).value();
  EXPECT_TRUE(storage->is_host_addressable());
  const std::vector<std::byte> bytes = PatternBytes(100);
  ASSERT_THAT(lane().CopyToDevice(bytes, WholeOf(*storage)), IsOk());
  Finish(lane());
  EXPECT_EQ(std::memcmp(storage->address(), bytes.data(), bytes.size()), 0);
  EXPECT_GE(device().allocated_bytes(), 100u);
}

TEST_P(MemoryContract, ImportsHostMemoryInPlaceOrSaysThatItDoesNot) {
  struct alignas(kStorageAlignment) Block {
    std::byte bytes[256];
  };
  auto owner = std::make_shared<Block>();
  std::fill(std::begin(owner->bytes), std::end(owner->bytes), std::byte{7});
  absl::StatusOr<std::unique_ptr<Storage>> storage =
      device().ImportHostMemory(owner->bytes, owner);
  if (!device().info().imports_host_memory) {
    EXPECT_THAT(storage, StatusIs(absl::StatusCode::kUnimplemented,
                                  HasSubstr("imports no host memory")));
    EXPECT_EQ(owner.use_count(), 1);
    return;
  }
  ASSERT_THAT(storage, IsOk());
  EXPECT_EQ((*storage)->size_bytes(), sizeof(Block));
  EXPECT_EQ(owner.use_count(), 2);
  EXPECT_EQ(Download(lane(), WholeOf(**storage)),
            std::vector<std::byte>(sizeof(Block), std::byte{7}));
  storage->reset();
  EXPECT_EQ(owner.use_count(), 1);
}

INSTANTIATE_TEST_SUITE_P(Devices, MemoryContract, AvailableDevices(),
                         DeviceName);

// Devices that were opened with little memory.
class MemoryLimitContract : public BackendTest {
 protected:
  static constexpr uint64_t kLimit = 1 << 20;
  MemoryLimitContract() : BackendTest(kLimit) {}
};

TEST_P(MemoryLimitContract, IsSaidInTheInfo) {
  EXPECT_EQ(device().info().memory_limit_bytes, kLimit);
}

TEST_P(MemoryLimitContract, RefusesWithTheLimitTheUseAndWhatWasAskedFor) {
  std::unique_ptr<Storage> storage = Allocate(kLimit - 100);
  const auto is_refused = StatusIs(
      absl::StatusCode::kResourceExhausted,
      AllOf(HasSubstr(device().info().id.ToString()), HasSubstr("101 bytes"),
            HasSubstr(absl::StrCat(kLimit - 100, " of ", kLimit))));
  EXPECT_THAT(device().Allocate(101), is_refused);
  EXPECT_THAT(device().AllocateHostVisible(101), is_refused);
  EXPECT_EQ(device().allocated_bytes(), kLimit - 100);
  EXPECT_THAT(device().Allocate(UINT64_MAX),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr(absl::StrCat(UINT64_MAX))));
}

TEST_P(MemoryLimitContract, WhatIsFreedCanBeAllocatedAgain) {
  for (int round = 0; round < 3; ++round) {
    std::unique_ptr<Storage> all = Allocate(kLimit);
    EXPECT_FALSE(device().Allocate(1).ok());
  }
  EXPECT_EQ(device().allocated_bytes(), 0u);
}

TEST_P(MemoryLimitContract, HoldsForManyThreadsAtOnce) {
  constexpr int kThreads = 8;
  constexpr uint64_t kPart = kLimit / 4;
  std::vector<std::vector<std::unique_ptr<Storage>>> taken(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 4; ++round) {
        auto storage = device().Allocate(kPart);
        if (storage.ok()) taken[i].push_back(*std::move(storage));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  size_t taken_count = 0;
  for (const auto& mine : taken) taken_count += mine.size();
  EXPECT_EQ(taken_count, 4u);
  EXPECT_EQ(device().allocated_bytes(), kLimit);
}

INSTANTIATE_TEST_SUITE_P(Devices, MemoryLimitContract, AvailableDevices(),
                         DeviceName);

}  // namespace
}  // namespace tensord
