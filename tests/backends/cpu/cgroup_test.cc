#include "backends/cpu/cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "backends/cpu/cpu_count.h"
#include "backends/cpu/host_memory.h"

namespace tensord {
namespace {

using ::testing::DoubleEq;
using ::testing::Eq;
using ::testing::Optional;

// A root folder of its own for each test, with the files that it writes.
class CgroupTest : public ::testing::Test {
 protected:
  CgroupTest()
      : root_(::testing::TempDir() + "cgroup_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(root_);
  }
  ~CgroupTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path full = root_ + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }

  const std::string root_;
};

TEST_F(CgroupTest, WithoutFilesThereIsNoLimit) {
  EXPECT_THAT(CgroupCpuQuota(root_), Eq(std::nullopt));
  EXPECT_THAT(CgroupMemoryLimitBytes(root_), Eq(std::nullopt));
}

TEST_F(CgroupTest, Version2ReadsTheOwnGroup) {
  Write("/proc/self/cgroup", "0::/kubepods/pod1\n");
  Write("/sys/fs/cgroup/kubepods/pod1/cpu.max", "250000 100000\n");
  Write("/sys/fs/cgroup/kubepods/pod1/memory.max", "1073741824\n");
  EXPECT_THAT(CgroupCpuQuota(root_), Optional(DoubleEq(2.5)));
  EXPECT_THAT(CgroupMemoryLimitBytes(root_), Optional(uint64_t{1} << 30));
}

TEST_F(CgroupTest, TheSmallestLimitUpwardsCounts) {
  Write("/proc/self/cgroup", "0::/outer/inner\n");
  Write("/sys/fs/cgroup/outer/inner/cpu.max", "400000 100000\n");
  Write("/sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
  Write("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
  Write("/sys/fs/cgroup/outer/memory.max", "4096\n");
  EXPECT_THAT(CgroupCpuQuota(root_), Optional(DoubleEq(1.5)));
  EXPECT_THAT(CgroupMemoryLimitBytes(root_), Optional(uint64_t{4096}));
}

TEST_F(CgroupTest, MaxIsNoLimit) {
  Write("/proc/self/cgroup", "0::/\n");
  Write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  Write("/sys/fs/cgroup/memory.max", "max\n");
  EXPECT_THAT(CgroupCpuQuota(root_), Eq(std::nullopt));
  EXPECT_THAT(CgroupMemoryLimitBytes(root_), Eq(std::nullopt));
}

TEST_F(CgroupTest, Version1ReadsQuotaAndPeriod) {
  Write("/proc/self/cgroup", "4:memory:/box\n3:cpu,cpuacct:/box\n");
  Write("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "300000\n");
  Write("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  Write("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "65536\n");
  EXPECT_THAT(CgroupCpuQuota(root_), Optional(DoubleEq(3)));
  EXPECT_THAT(CgroupMemoryLimitBytes(root_), Optional(uint64_t{65536}));
}

TEST_F(CgroupTest, Version1SaysNoLimitByMinusOneAndByAHugeNumber) {
  Write("/proc/self/cgroup", "4:memory:/\n3:cpu:/\n");
  Write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  Write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_THAT(CgroupCpuQuota(root_), Eq(std::nullopt));
  EXPECT_THAT(CgroupMemoryLimitBytes(root_), Eq(std::nullopt));
}

// A container's mount shows the container's group at its top, while the path in
// /proc is the host's.
TEST_F(CgroupTest, APathThatTheMountDoesNotShowEndsAtItsTop) {
  Write("/proc/self/cgroup", "3:cpu:/docker/0123\n0::/docker/0123\n");
  Write("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_THAT(CgroupCpuQuota(root_), Optional(DoubleEq(2)));
}

TEST_F(CgroupTest, AGroupOutsideOfTheNamespaceEndsAtTheTop) {
  Write("/proc/self/cgroup", "0::/../../other\n");
  Write("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  Write("/other/cpu.max", "100000 100000\n");
  EXPECT_THAT(CgroupCpuQuota(root_), Optional(DoubleEq(2)));
}

TEST_F(CgroupTest, GarbageIsNoLimit) {
  Write("/proc/self/cgroup", "0::/\nno colons\n");
  for (const char* text : {"", "one two\n", "1\n", "0 100000\n", "5 0\n"}) {
    Write("/sys/fs/cgroup/cpu.max", text);
    EXPECT_THAT(CgroupCpuQuota(root_), Eq(std::nullopt)) << text;
  }
  Write("/sys/fs/cgroup/memory.max", "-5\n");
  EXPECT_THAT(CgroupMemoryLimitBytes(root_), Eq(std::nullopt));
}

TEST_F(CgroupTest, CpuCountFollowsTheQuota) {
  const int unlimited = CpuCount(root_);
  Write("/proc/self/cgroup", "0::/\n");
  Write("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(CpuCount(root_), 1);
  Write("/sys/fs/cgroup/cpu.max", "99900000 100000\n");
  EXPECT_EQ(CpuCount(root_), unlimited);
}

TEST(CpuCountTest, RoundsTheQuotaDownButNotToNothing) {
  EXPECT_EQ(CpuCountFrom(8, std::nullopt), 8);
  EXPECT_EQ(CpuCountFrom(8, 3.9), 3);
  EXPECT_EQ(CpuCountFrom(8, 0.1), 1);
  EXPECT_EQ(CpuCountFrom(2, 3.9), 2);
  EXPECT_EQ(CpuCountFrom(0, std::nullopt), 1);
}

TEST_F(CgroupTest, HostMemoryIsBoundedByTheGroup) {
  const uint64_t machine_bytes = HostMemoryLimitBytes(root_);
  EXPECT_GT(machine_bytes, uint64_t{1} << 26);
  Write("/proc/self/cgroup", "0::/\n");
  Write("/sys/fs/cgroup/memory.max", "1048576\n");
  EXPECT_EQ(HostMemoryLimitBytes(root_), uint64_t{1} << 20);
  Write("/sys/fs/cgroup/memory.max", "1000000000000000\n");
  EXPECT_EQ(HostMemoryLimitBytes(root_), machine_bytes);
}

}  // namespace
}  // namespace tensord
