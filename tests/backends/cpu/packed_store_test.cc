#include "backends/cpu/packed_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "backends/api/packed_weights.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

using Bytes = std::vector<std::byte>;

class PackedStoreTest : public ::testing::Test {
 protected:
  // A form of 128 bytes that counts its making.
  std::shared_ptr<const Storage> Get(const Bytes& content,
                                     absl::string_view form) {
    return *store().Get(content, form, 128, [this](std::byte* to) {
      std::memset(to, ++fills_, 128);
      return absl::OkStatus();
    });
  }
  PackedStore& store() { return PackedStoreOf(*device_); }

  HostWorkerPool workers_{2};
  std::unique_ptr<Backend> backend_ = MakeCpuBackend({.workers = &workers_});
  std::unique_ptr<Device> device_ = backend_->OpenDevice(0).value();
  std::atomic<int> fills_{0};
};

TEST_F(PackedStoreTest, EqualContentIsPackedOnceForEachForm) {
  const Bytes a(10, std::byte{1}), b(10, std::byte{1}), c(10, std::byte{2});
  const auto first = Get(a, "rows");
  EXPECT_EQ(Get(b, "rows"), first);
  EXPECT_EQ(fills_, 1);
  EXPECT_NE(Get(c, "rows"), first);
  EXPECT_NE(Get(a, "columns"), first);
  EXPECT_EQ(fills_, 3);
}

TEST_F(PackedStoreTest, BytesAreCountedOnceAndGoWithTheLastUser) {
  const Bytes a(10, std::byte{1});
  auto first = Get(a, "rows");
  auto second = Get(a, "rows");
  EXPECT_EQ(PackedBytesOf(*device_), 128);
  EXPECT_EQ(device_->allocated_bytes(), 128);
  first.reset();
  EXPECT_EQ(PackedBytesOf(*device_), 128);
  second.reset();
  EXPECT_EQ(PackedBytesOf(*device_), 0);
  EXPECT_EQ(device_->allocated_bytes(), 0);
  Get(a, "rows");
  EXPECT_EQ(fills_, 2) << "what has died is made again";
}

// An address is given out again to other weights.
TEST_F(PackedStoreTest, OtherBytesAtTheSamePlaceAreAnotherForm) {
  alignas(kStorageAlignment) static std::byte memory[1 << 14] = {};
  const Bytes zeros(std::begin(memory), std::end(memory));
  auto owner = std::make_shared<int>(0);
  dynamic_cast<HasPackedWeights&>(*device_).digests().Remember(memory, owner);
  const auto get = [&] {
    return *store().Get(memory, "rows", 128, [this](std::byte*) {
      ++fills_;
      return absl::OkStatus();
    });
  };
  const auto first = get();
  EXPECT_EQ(get(), first);
  owner.reset();
  memory[77] = std::byte{1};
  EXPECT_NE(get(), first);
  EXPECT_EQ(fills_, 2);
}

TEST_F(PackedStoreTest, AFailureLeavesNothing) {
  const Bytes a(10, std::byte{1});
  EXPECT_THAT(store().Get(a, "rows", 128,
                          [](std::byte*) {
                            return absl::InternalError("no such form");
                          }),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("no such form")));
  EXPECT_EQ(device_->allocated_bytes(), 0);
  Get(a, "rows");
  EXPECT_EQ(fills_, 1);
}

TEST_F(PackedStoreTest, AFullDeviceRefuses) {
  const std::unique_ptr<Backend> backend =
      MakeCpuBackend({.workers = &workers_}, {.memory_limit_bytes = 100});
  const std::unique_ptr<Device> device = backend->OpenDevice(0).value();
  EXPECT_THAT(
      PackedStoreOf(*device).Get(Bytes(10), "rows", 128,
                                 [](std::byte*) { return absl::OkStatus(); }),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("128")));
  EXPECT_EQ(PackedBytesOf(*device), 0);
}

TEST_F(PackedStoreTest, ManyThreadsAtOnceGetOneForm) {
  const Bytes a(10, std::byte{1});
  std::vector<std::shared_ptr<const Storage>> forms(8);
  std::vector<std::thread> threads;
  for (auto& form : forms) {
    threads.emplace_back([&] { form = Get(a, "rows"); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(forms, ::testing::Each(forms[0]));
  EXPECT_EQ(PackedBytesOf(*device_), 128);
}

}  // namespace
}  // namespace tensord
