#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/host_worker_pool.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Fast kernels for 8-bit integers, which take weights that are known ahead,
// have the very bits of the portable kernel, the last sibling.
namespace tensord {
namespace {

constexpr DType kBytes[] = {DType::kInt8, DType::kUInt8};

class Random {
 public:
  // All values of an 8-bit integer.
  TestTensor Bytes(DType dtype, const Shape& shape) {
    std::vector<double> values;
    for (int64_t i = 0; i < shape.element_count(); ++i) {
      values.push_back(static_cast<double>(engine_() % 256) -
                       (dtype == DType::kInt8 ? 128 : 0));
    }
    return TensorOf(dtype, shape, values);
  }
  TestTensor Scales(const Shape& shape) {
    std::vector<float> values;
    for (int64_t i = 0; i < shape.element_count(); ++i) {
      values.push_back(0.001f + static_cast<float>(engine_() % 1000) * 1e-5f);
    }
    return Tensor(shape, values);
  }
  int64_t Pick(std::initializer_list<int64_t> choices) {
    return *(choices.begin() + engine_() % choices.size());
  }

 private:
  std::mt19937 engine_{5};
};

std::string Describe(const OpCase& test) {
  std::vector<std::string> inputs;
  for (const TestTensor& input : test.inputs) {
    inputs.push_back(
        absl::StrCat(DTypeName(input.dtype), " ", input.shape.ToString()));
  }
  return absl::StrCat(test.op, ": ", absl::StrJoin(inputs, ", "));
}

// Whether this build and machine have them at all.
bool HasFastKernels() {
#if defined(__x86_64__)
  for (const KernelEntry& kernel : CpuTestDevice().backend->kernels()) {
    if (absl::EndsWith(kernel.name, "_onednn")) {
      return __builtin_cpu_supports("avx512vnni");
    }
  }
#endif
  return false;
}

// How many siblings there are besides the portable one.
int ExpectSameBits(const OpCase& test) {
  int siblings = 0;
  TestTensor expected;
  for (int threads : {3, 1}) {
    HostWorkerPool workers(threads);
    TestDevice device = CpuTestDevice();
    device.workers = &workers;
    const auto all = RunOpOnEveryKernel(test, device);
    EXPECT_THAT(all, IsOk()) << Describe(test);
    if (!all.ok()) return 0;
    expected = all->back().outputs[0];
    for (const auto& [kernel, outputs] : *all) {
      EXPECT_TRUE(outputs[0] == expected)
          << kernel << " with " << threads << " threads, " << Describe(test);
    }
    siblings = static_cast<int>(all->size()) - 1;
  }
  return siblings;
}

// One, one for each line, or none.
TestTensor ZeroPoint(Random& random, DType dtype, const Shape& lines) {
  switch (random.Pick({0, 1, 2, 3})) {
    case 0:
      return TestTensor();
    case 1:
      return random.Bytes(dtype, lines);
    default:
      return random.Bytes(dtype, Shape({}));
  }
}

TEST(IntegerSiblingsTest, MatMulInteger) {
  Random random;
  struct Extents {
    int64_t m, k, n;
  };
  for (const auto& [m, k, n] : std::initializer_list<Extents>{{1, 300, 400},
                                                              {3, 257, 129},
                                                              {64, 64, 64},
                                                              {130, 33, 70},
                                                              {200, 1000, 515},
                                                              {1, 4096, 1100},
                                                              {600, 40, 1}}) {
    for (DType a_type : kBytes) {
      for (DType b_type : kBytes) {
        for (int i = 0; i < 3; ++i) {
          ExpectSameBits({.op = "MatMulInteger",
                          .inputs = {random.Bytes(a_type, {m, k}),
                                     random.Bytes(b_type, {k, n}),
                                     ZeroPoint(random, a_type, {m}),
                                     ZeroPoint(random, b_type, {n})},
                          .constants = {1}});
        }
      }
    }
  }
}

TEST(IntegerSiblingsTest, MatMulIntegerOfABatch) {
  Random random;
  for (DType b_type : kBytes) {
    for (const Shape& b : {Shape({50, 60}), Shape({1, 50, 60})}) {
      ExpectSameBits({.op = "MatMulInteger",
                      .inputs = {random.Bytes(DType::kUInt8, {5, 40, 50}),
                                 random.Bytes(b_type, b),
                                 random.Bytes(DType::kUInt8, {5, 40, 1}),
                                 random.Bytes(b_type, Shape({60}))},
                      .constants = {1}});
    }
  }
}

// 16 bits would overflow at two such products, 32 at 40,000.
TEST(IntegerSiblingsTest, TheLargestProductsDoNotSaturateAndWrapAround) {
  for (int64_t k : {1000, 40000}) {
    for (double b : {-128.0, 127.0}) {
      ExpectSameBits({.op = "MatMulInteger",
                      .inputs = {TensorOf(DType::kUInt8, {8, k},
                                          std::vector<double>(8 * k, 255)),
                                 TensorOf(DType::kInt8, {k, 16},
                                          std::vector<double>(16 * k, b))},
                      .constants = {1}});
    }
  }
}

// By rows, by images, by output channels, and in groups; the zero point of x is
// the run's, or none.
TEST(IntegerSiblingsTest, ConvInteger) {
  Random random;
  struct Extents {
    int64_t images, channels, outputs, group, extent, kernel, pad, stride;
  };
  for (const Extents& e :
       std::initializer_list<Extents>{{1, 16, 24, 1, 9, 3, 1, 1},
                                      {2, 3, 64, 1, 57, 7, 3, 2},
                                      {1, 64, 128, 1, 40, 3, 1, 1},
                                      {3, 32, 32, 32, 17, 3, 1, 1},
                                      {1, 128, 4160, 1, 7, 3, 1, 1},
                                      {1, 40, 20, 4, 11, 1, 0, 1}}) {
    for (DType x_type : kBytes) {
      for (DType w_type : kBytes) {
        for (bool has_zero : {false, true}) {
          const std::vector<double> zero = {w_type == DType::kInt8 ? 0.0
                                                                   : 128.0};
          const int siblings = ExpectSameBits(
              {.op = "ConvInteger",
               .inputs = {random.Bytes(x_type, {e.images, e.channels, e.extent,
                                                e.extent}),
                          random.Bytes(w_type, {e.outputs, e.channels / e.group,
                                                e.kernel, e.kernel}),
                          has_zero ? random.Bytes(x_type, Shape({}))
                                   : TestTensor(),
                          TensorOf(w_type, {}, zero)},
               .attributes = {{"pads", std::vector<int64_t>(4, e.pad)},
                              {"strides", std::vector<int64_t>(2, e.stride)},
                              {"group", e.group}},
               .constants = {1, 3}});
          if (HasFastKernels()) {
            EXPECT_EQ(siblings, 1);
          }
        }
      }
    }
  }
}

TEST(IntegerSiblingsTest, QLinearMatMul) {
  Random random;
  struct Extents {
    int64_t m, k, n;
  };
  for (const auto& [m, k, n] : std::initializer_list<Extents>{
           {1, 300, 400}, {130, 33, 700}, {200, 400, 65}}) {
    for (DType a_type : kBytes) {
      for (DType b_type : kBytes) {
        for (DType y_type : kBytes) {
          for (bool has_line_scales : {false, true}) {
            const Shape rows = has_line_scales ? Shape({m}) : Shape({});
            const Shape columns = has_line_scales ? Shape({n}) : Shape({});
            ExpectSameBits(
                {.op = "QLinearMatMul",
                 .inputs = {random.Bytes(a_type, {m, k}), random.Scales(rows),
                            random.Bytes(a_type, rows),
                            random.Bytes(b_type, {k, n}),
                            random.Scales(columns),
                            random.Bytes(b_type, columns), Tensor({}, {0.05f}),
                            random.Bytes(y_type, Shape({}))},
                 .constants = {3}});
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tensord
