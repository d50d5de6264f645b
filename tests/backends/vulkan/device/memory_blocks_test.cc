#include "backends/vulkan/memory_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "backends/vulkan/vulkan_backend.h"
#include "backends/vulkan/vulkan_device.h"
#include "tests/support/broken_vulkan.h"
#include "tests/support/matchers.h"

namespace tensord::vulkan {
namespace {

class MemoryBlocksTest : public ::testing::Test {
 protected:
  const BrokenVulkan broken_;
  std::unique_ptr<Backend> backend_ = MakeVulkanBackend(
      HostServices{},
      {.memory_limit_bytes = 64 << 20, .loader = BrokenVulkan::loader()});
  std::unique_ptr<Device> device_ = backend_->OpenDevice(0).value();
};

TEST_F(MemoryBlocksTest, ManyStoragesShareAFewAllocations) {
  std::vector<std::unique_ptr<Storage>> storages;
  for (int i = 0; i < 1000; ++i) {
    storages.push_back(device_->Allocate(1000).value());
  }
  EXPECT_LE(BrokenVulkan::allocation_count, 2);
}

TEST_F(MemoryBlocksTest, WhatIsFreedIsGivenOutAgain) {
  for (int i = 0; i < 100; ++i) {
    std::unique_ptr<Storage> large = device_->Allocate(1 << 20).value();
    std::unique_ptr<Storage> small = device_->Allocate(i + 1).value();
  }
  EXPECT_LE(BrokenVulkan::allocation_count, 2);
}

TEST_F(MemoryBlocksTest, FreedNeighboursBecomeOneRange) {
  // A block of a sixteenth of the limit, full of parts.
  std::vector<std::unique_ptr<Storage>> parts;
  for (int i = 0; i < 8; ++i) {
    parts.push_back(device_->Allocate((4 << 20) / 8).value());
  }
  ASSERT_EQ(BrokenVulkan::allocation_count, 1);
  parts[3].reset();
  parts[5].reset();
  parts[4].reset();
  std::unique_ptr<Storage> three = device_->Allocate(3 * (4 << 20) / 8).value();
  EXPECT_EQ(BrokenVulkan::allocation_count, 1);
}

TEST_F(MemoryBlocksTest, RangesDoNotOverlap) {
  std::vector<std::unique_ptr<Storage>> storages;
  for (int i = 0; i < 50; ++i) {
    storages.push_back(device_->Allocate(1 + i * 37).value());
    if (i % 3 == 0) storages[i / 2].reset();
  }
  for (const auto& a : storages) {
    for (const auto& b : storages) {
      if (a == nullptr || b == nullptr || a == b) continue;
      EXPECT_TRUE(a->address() + a->size_bytes() <= b->address() ||
                  b->address() + b->size_bytes() <= a->address());
    }
  }
}

TEST_F(MemoryBlocksTest, ADriverWithoutMemoryIsSaidAndNoFault) {
  BrokenVulkan::allocate_memory = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  EXPECT_THAT(device_->Allocate(1000),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       ::testing::AllOf(::testing::HasSubstr("vulkan:0"),
                                        ::testing::HasSubstr(
                                            "VK_ERROR_OUT_OF_DEVICE_MEMORY"))));
  EXPECT_EQ(device_->allocated_bytes(), 0u);
  EXPECT_THAT(device_->health(), IsOk());
  BrokenVulkan::allocate_memory = VK_SUCCESS;
  EXPECT_THAT(device_->Allocate(1000), IsOk());
}

}  // namespace
}  // namespace tensord::vulkan
