#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/cpu_identity.h"
#include "backends/cpu/host_memory.h"
#include "backends/cpu/host_worker_pool.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class CpuDeviceTest : public ::testing::Test {
 protected:
  HostWorkerPool workers_{2};
  std::unique_ptr<Backend> backend_ =
      MakeCpuBackend({.workers = &workers_, .logger = nullptr});
  std::unique_ptr<Device> device_ = backend_->OpenDevice(0).value();
};

TEST_F(CpuDeviceTest, TheLimitIsTheHostsByDefault) {
  EXPECT_EQ(device_->info().memory_limit_bytes, HostMemoryLimitBytes());
}

TEST_F(CpuDeviceTest, TakesItsMemoryFromTheHostsBudgetAsWell) {
  HostMemoryBudget host(1000);
  std::unique_ptr<Backend> backend = MakeCpuBackend(
      {.workers = &workers_, .logger = nullptr}, {.host_memory = &host});
  std::unique_ptr<Device> device = backend->OpenDevice(0).value();
  {
    std::unique_ptr<Storage> storage = device->Allocate(600).value();
    EXPECT_THAT(device->Allocate(401),
                StatusIs(absl::StatusCode::kResourceExhausted,
                         HasSubstr("device cpu:0), 600 of 1000 in use")));
    EXPECT_EQ(device->allocated_bytes(), 600u);
  }
  EXPECT_EQ(host.used_bytes(), 0u);
}

TEST_F(CpuDeviceTest, LargeAllocationsAreAlignedToHugePages) {
  std::unique_ptr<Storage> storage = device_->Allocate(kHugePageBytes).value();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(storage->address()) % kHugePageBytes,
            0u);
}

TEST_F(CpuDeviceTest, OrdinalsAreDevicesOfTheirOwn) {
  std::unique_ptr<Device> last = backend_->OpenDevice(63).value();
  EXPECT_EQ(last->info().id.ToString(), "cpu:63");
  std::unique_ptr<Storage> storage = last->Allocate(100).value();
  EXPECT_EQ(last->allocated_bytes(), 100u);
  EXPECT_EQ(device_->allocated_bytes(), 0u);
}

TEST_F(CpuDeviceTest, RefusesToImportWhatIsNotAligned) {
  alignas(kStorageAlignment) std::byte bytes[128] = {};
  EXPECT_THAT(
      device_->ImportHostMemory(absl::MakeConstSpan(bytes + 4, 64), nullptr),
      StatusIs(absl::StatusCode::kInternal,
               HasSubstr("4 past a multiple of 64")));
}

TEST_F(CpuDeviceTest, ImportedBytesAreNotCounted) {
  alignas(kStorageAlignment) std::byte bytes[128] = {};
  std::unique_ptr<Storage> storage =
      device_->ImportHostMemory(bytes, nullptr).value();
  EXPECT_EQ(storage->address(), bytes);
  EXPECT_EQ(device_->allocated_bytes(), 0u);
}

TEST_F(CpuDeviceTest, MoreThreadsAreFaster) {
  HostWorkerPool many(16);
  std::unique_ptr<Backend> larger =
      MakeCpuBackend({.workers = &many, .logger = nullptr});
  std::unique_ptr<Device> faster = larger->OpenDevice(0).value();
  EXPECT_GT(faster->info().flops_per_ns, device_->info().flops_per_ns);
  EXPECT_THAT(faster->info().description, HasSubstr("16 threads"));
}

class CpuIdentityTest : public ::testing::Test {
 protected:
  CpuIdentityTest() : root_(::testing::TempDir() + "cpu_identity") {
    std::filesystem::create_directories(root_ + "/proc");
  }
  ~CpuIdentityTest() override { std::filesystem::remove_all(root_); }

  CpuIdentity Read(const std::string& cpuinfo, int thread_count) {
    std::ofstream(root_ + "/proc/cpuinfo") << cpuinfo;
    return ReadCpuIdentity(thread_count, root_);
  }

  const std::string root_;
};

TEST_F(CpuIdentityTest, NamesTheModel) {
  const CpuIdentity identity = Read(
      "processor\t: 0\nmodel name\t: Fast 9\nflags\t: fpu avx2\n\n"
      "processor\t: 1\nmodel name\t: Other\n",
      1);
  EXPECT_EQ(identity.description, "Fast 9, 1 thread");
  EXPECT_THAT(identity.uuid, StartsWith("cpu-"));
}

TEST_F(CpuIdentityTest, WithoutANameItIsStillOne) {
  EXPECT_EQ(Read("", 2).description, "unknown CPU, 2 threads");
}

// Tuning that is kept under the uuid holds for the same hardware alone. The
// number is written down here since it must survive restarts.
TEST_F(CpuIdentityTest, TheUuidFollowsModelFeaturesAndThreads) {
  const std::string cpuinfo = "model name: A\nflags: avx2\n";
  const std::string uuid = Read(cpuinfo, 2).uuid;
  EXPECT_EQ(Read(cpuinfo, 2).uuid, uuid);
  EXPECT_NE(Read(cpuinfo, 3).uuid, uuid);
  EXPECT_NE(Read("model name: B\nflags: avx2\n", 2).uuid, uuid);
  EXPECT_NE(Read("model name: A\nflags: avx512f\n", 2).uuid, uuid);
  EXPECT_EQ(uuid, "cpu-053c801b91c8a79f");
}

}  // namespace
}  // namespace tensord
