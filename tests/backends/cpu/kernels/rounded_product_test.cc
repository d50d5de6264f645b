#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/cpu/host_worker_pool.h"
#include "backends/cpu/kernels/vector_bfloat16.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"
#include "tests/support/tolerances.h"

// Products whose factors are rounded to bfloat16: only where a request allows
// it, and then within the tolerance for that.
namespace tensord {
namespace {

using Ints = std::vector<int64_t>;

// Numbers of about 1 that bfloat16 does not have.
TestTensor Numbers(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> distribution(-1.5f, 1.5f);
  std::vector<float> values;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(distribution(random));
  }
  return Tensor(shape, values);
}

bool Rounds(const std::string& kernel) {
  return absl::EndsWith(kernel, "_bf16");
}

// Whether this build and machine have such kernels.
bool HasRoundingKernels() {
#if defined(__x86_64__)
  for (const KernelEntry& kernel : CpuTestDevice().backend->kernels()) {
    if (Rounds(kernel.name)) return __builtin_cpu_supports("avx512bf16");
  }
#endif
  return false;
}

struct Case {
  OpCase test;
  int64_t depth;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  const auto add = [&](OpCase test, int64_t depth) {
    cases.push_back({std::move(test), depth});
  };
  add({.op = "MatMul",
       .inputs = {Numbers({130, 70}, 1), Numbers({70, 90}, 2)},
       .constants = {1}},
      70);
  add({.op = "MatMul",
       .inputs = {Numbers({3, 40, 500}, 1), Numbers({500, 1100}, 2)},
       .constants = {1}},
      500);
  add({.op = "MatMul",
       .inputs = {Numbers({1, 4096}, 1), Numbers({4096, 512}, 2)},
       .constants = {1}},
      4096);
  for (int64_t transpose_b : {0, 1}) {
    add({.op = "Gemm",
         .inputs = {Numbers({65, 200}, 1),
                    Numbers(transpose_b ? Shape({300, 200}) : Shape({200, 300}),
                            2),
                    Numbers({300}, 3)},
         .attributes = {{"transB", transpose_b}},
         .constants = {1}},
        200);
  }
  add({.op = "Conv",
       .inputs = {Numbers({2, 16, 30, 31}, 1), Numbers({24, 16, 3, 3}, 2),
                  Numbers({24}, 3)},
       .attributes = {{"pads", Ints(4, 1)}, {"strides", Ints{2, 1}}},
       .constants = {1}},
      144);
  add({.op = "Conv",
       .inputs = {Numbers({1, 256, 7, 7}, 1), Numbers({320, 256, 3, 3}, 2)},
       .attributes = {{"pads", Ints(4, 1)}},
       .constants = {1}},
      2304);
  return cases;
}

TEST(RoundedProductTest, AreWithinTheirToleranceOnAnyNumberOfThreads) {
  int rounding = 0;
  for (Case& c : Cases()) {
    const auto strict = RunOpOnEveryKernel(c.test);
    ASSERT_THAT(strict, IsOk());
    for (const KernelOutputs& outputs : *strict) {
      EXPECT_FALSE(Rounds(outputs.kernel)) << outputs.kernel;
    }
    const TestTensor& expected = strict->back().outputs[0];
    c.test.precision = Precision::kAllowBf16;
    std::vector<TestTensor> by_threads;
    for (int threads : {1, 2, 3}) {
      HostWorkerPool workers(threads);
      TestDevice device = CpuTestDevice();
      device.workers = &workers;
      const auto allowed = RunOpOnEveryKernel(c.test, device);
      ASSERT_THAT(allowed, IsOk());
      for (const KernelOutputs& outputs : *allowed) {
        if (!Rounds(outputs.kernel)) continue;
        by_threads.push_back(outputs.outputs[0]);
        EXPECT_THAT(outputs.outputs[0],
                    IsNear(expected, ToleranceFor(DType::kFloat32,
                                                  OpFamily::kRoundedContraction,
                                                  c.depth)))
            << outputs.kernel;
        EXPECT_FALSE(outputs.outputs[0] == expected) << "nothing was rounded";
      }
    }
    for (const TestTensor& y : by_threads) {
      EXPECT_TRUE(y == by_threads[0]) << c.test.op;
    }
    rounding += by_threads.empty() ? 0 : 1;
  }
  if (HasRoundingKernels()) {
    EXPECT_EQ(rounding, static_cast<int>(Cases().size()));
  }
}

TEST(RoundedProductTest, TheFirstSiblingIsTheOneThatIsAllowedMost) {
  OpCase test = Cases()[0].test;
  test.precision = Precision::kAllowTf32;
  EXPECT_FALSE(Rounds(RunOpOnEveryKernel(test)->front().kernel));
  test.precision = Precision::kAllowBf16;
  EXPECT_EQ(Rounds(RunOpOnEveryKernel(test)->front().kernel),
            HasRoundingKernels());
}

TEST(RoundToBFloat16Test, IsTheRoundingOfTheTypeItself) {
  std::vector<float> x;
  // Every sign, exponent and first bits of the mantissa, with what decides
  // about rounding behind them.
  for (uint32_t high = 0; high < 0x10000; ++high) {
    for (uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      x.push_back(std::bit_cast<float>(high << 16 | low));
    }
  }
  std::vector<BFloat16> y(x.size());
  RoundToBFloat16(x.data(), static_cast<int64_t>(x.size()), y.data());
  int differences = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const BFloat16 expected(x[i]);
    if (std::isnan(x[i])) {
      differences += !std::isnan(static_cast<float>(y[i]));
    } else {
      differences += y[i].bits != expected.bits;
    }
  }
  EXPECT_EQ(differences, 0);
}

}  // namespace
}  // namespace tensord
