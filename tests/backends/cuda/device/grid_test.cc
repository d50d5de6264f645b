// The emulated grid itself: what kernels rely on.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "backends/cuda/kernels/device.h"

namespace tensord::cuda {
namespace {

TEST(EmulatedGrid, RunsEachThreadOnce) {
  std::vector<int> runs(2 * 3 * 40, 0);
  emulation::RunGrid({dim3(2, 3), dim3(8, 5)}, [&] {
    const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
    ++runs[(block * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x];
  });
  EXPECT_EQ(runs, std::vector<int>(runs.size(), 1));
}

TEST(EmulatedGrid, ABarrierSeparatesWritesFromReads) {
  constexpr int kThreads = 96;
  std::vector<int> seen(kThreads, -1);
  emulation::RunGrid({dim3(1), dim3(kThreads), kThreads * sizeof(int)}, [&] {
    int* shared = DynamicShared<int>();
    const int at = static_cast<int>(threadIdx.x);
    for (int round = 0; round < 3; ++round) {
      shared[at] = at + round;
      __syncthreads();
      seen[at] = shared[kThreads - 1 - at];
      __syncthreads();
    }
  });
  for (int i = 0; i < kThreads; ++i) EXPECT_EQ(seen[i], kThreads - 1 - i + 2);
}

// Also where threads have ended before, and where the last warp is not full.
TEST(EmulatedGrid, SumsOverAWarp) {
  std::vector<int> sums(40, 0);
  emulation::RunGrid({dim3(1), dim3(40)}, [&] {
    if (threadIdx.x >= 36) return;
    const unsigned mask = threadIdx.x < 32 ? 0xffffffffu : 0xfu;
    int sum = 1;
    for (int step = threadIdx.x < 32 ? 16 : 2; step > 0; step /= 2) {
      sum += __shfl_xor_sync(mask, sum, step);
    }
    sums[threadIdx.x] = sum;
  });
  EXPECT_EQ(sums[0], 32);
  EXPECT_EQ(sums[31], 32);
  EXPECT_EQ(sums[32], 4);
  EXPECT_EQ(sums[36], 0);
}

TEST(EmulatedGrid, BallotsCountOnlyWhoTakesPart) {
  unsigned ballot = 0;
  emulation::RunGrid({dim3(1), dim3(32)}, [&] {
    const unsigned seen = __ballot_sync(0xffffffffu, threadIdx.x % 2);
    if (threadIdx.x == 5) ballot = seen;
  });
  EXPECT_EQ(ballot, 0xaaaaaaaau);
}

TEST(EmulatedGridDeathTest, ThreadsThatWaitForEachOtherAbort) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(emulation::RunGrid({dim3(1), dim3(64)},
                                  [] {
                                    if (threadIdx.x < 32) {
                                      __syncthreads();
                                    } else if (threadIdx.x == 32) {
                                      __syncwarp(0xffffffffu);
                                    } else {
                                      __syncthreads();
                                    }
                                  }),
               "wait for each other");
}

}  // namespace
}  // namespace tensord::cuda
