#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/host_worker_pool.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Gemm and MatMul so large that fast kernels take them, and cut them into
// parts: every sibling agrees with the portable kernel, the last of them, and
// the number of threads changes nothing.
namespace tensord {
namespace {

// With a right side that is known ahead and one that is not.
std::vector<OpCase> Cases() {
  std::vector<OpCase> cases;
  const auto add = [&](OpCase test) {
    cases.push_back(test);
    test.constants = {1};
    cases.push_back(test);
  };
  struct Extents {
    int64_t m, k, n;
  };
  // Tails of every dimension, one row, one column, parts of rows, of columns,
  // and of both.
  for (const auto& [m, k, n] : std::initializer_list<Extents>{{1, 300, 1001},
                                                              {2, 1025, 70},
                                                              {3, 1000, 33},
                                                              {4, 640, 640},
                                                              {37, 65, 129},
                                                              {500, 70, 1},
                                                              {16, 768, 1500},
                                                              {200, 515, 513},
                                                              {1000, 33, 130},
                                                              {77, 1, 500}}) {
    add({.op = "MatMul",
         .inputs = {Pattern(DType::kFloat32, Shape({m, k}), 1),
                    Pattern(DType::kFloat32, Shape({k, n}), 2)}});
    for (bool transpose_a : {false, true}) {
      for (bool transpose_b : {false, true}) {
        add({.op = "Gemm",
             .inputs = {Pattern(DType::kFloat32,
                                transpose_a ? Shape({k, m}) : Shape({m, k}), 1),
                        Pattern(DType::kFloat32,
                                transpose_b ? Shape({n, k}) : Shape({k, n}), 2),
                        Pattern(DType::kFloat32, Shape({n}), 3)},
             .attributes = {{"transA", int64_t{transpose_a}},
                            {"transB", int64_t{transpose_b}}}});
      }
    }
  }
  for (const Shape& c : {Shape({}), Shape({90}), Shape({70, 1}), Shape({1, 90}),
                         Shape({70, 90})}) {
    for (float beta : {1.0f, -0.5f, 0.0f}) {
      add({.op = "Gemm",
           .inputs = {Pattern(DType::kFloat32, Shape({70, 80}), 1),
                      Pattern(DType::kFloat32, Shape({80, 90}), 2),
                      Pattern(DType::kFloat32, c, 3)},
           .attributes = {{"alpha", 1.5f}, {"beta", beta}}});
    }
  }
  add({.op = "MatMul",
       .inputs = {Pattern(DType::kFloat32, Shape({2, 1, 40, 50}), 1),
                  Pattern(DType::kFloat32, Shape({3, 50, 60}), 2)}});
  add({.op = "MatMul",
       .inputs = {Pattern(DType::kFloat32, Shape({5, 40, 50}), 1),
                  Pattern(DType::kFloat32, Shape({50, 60}), 2)}});
  add({.op = "MatMul",
       .inputs = {Pattern(DType::kFloat32, Shape({300, 20, 50}), 1),
                  Pattern(DType::kFloat32, Shape({300, 50, 20}), 2)}});
  const size_t plain_count = cases.size();
  for (size_t i = 0; i < plain_count; i += 2) {
    // relu(y * x1 + x2), with one x1 for each column.
    OpCase test = cases[i];
    const Shape y = MustRunOp(test).shape;
    constexpr int32_t kNone = ExpressionStep::kNoOperand;
    test.epilogue = Expression{.input_count = 3,
                               .steps = {{OpKind::kMul, {0, 1}},
                                         {OpKind::kAdd, {3, 2}},
                                         {OpKind::kRelu, {4, kNone}}}};
    test.epilogue_inputs = {
        Pattern(DType::kFloat32, Shape({y[y.rank() - 1]}), 5),
        Pattern(DType::kFloat32, y, 6)};
    cases.push_back(test);
  }
  return cases;
}

std::string Name(const OpCase& test) {
  return absl::StrCat(test.op, " ", test.inputs[0].shape.ToString(), " ",
                      test.inputs[1].shape.ToString(),
                      test.constants.empty() ? "" : ", constant",
                      test.epilogue.has_value() ? ", epilogue" : "");
}

int64_t Depth(const OpCase& test) {
  const Shape& a = test.inputs[0].shape;
  const Shape& b = test.inputs[1].shape;
  // The extent of A that B has as well.
  const int64_t last = a[a.rank() - 1];
  return last == b[b.rank() - 1] || last == b[b.rank() - 2] ? last
                                                            : a[a.rank() - 2];
}

TEST(ProductPartsTest, EverySiblingAgreesWithThePortableKernel) {
  for (const OpCase& test : Cases()) {
    const auto all = RunOpOnEveryKernel(test);
    ASSERT_THAT(all, IsOk()) << Name(test);
    for (const auto& [kernel, outputs] : *all) {
      EXPECT_THAT(outputs[0],
                  IsNear(all->back().outputs[0],
                         ToleranceFor(DType::kFloat32, OpFamily::kContraction,
                                      Depth(test))))
          << kernel << " " << Name(test);
    }
  }
}

TEST(ProductPartsTest, TheNumberOfThreadsChangesNoBit) {
  for (const OpCase& test : Cases()) {
    std::vector<std::vector<KernelOutputs>> by_threads;
    for (int threads : {1, 2, 3}) {
      HostWorkerPool workers(threads);
      TestDevice device = CpuTestDevice();
      device.workers = &workers;
      auto all = RunOpOnEveryKernel(test, device);
      ASSERT_THAT(all, IsOk());
      by_threads.push_back(*std::move(all));
    }
    for (size_t i = 0; i < by_threads[0].size(); ++i) {
      for (const auto& outputs : by_threads) {
        EXPECT_TRUE(outputs[i].outputs[0] == by_threads[0][i].outputs[0])
            << outputs[i].kernel << " " << Name(test);
      }
    }
  }
}

TEST(ProductPartsTest, NaNAndInfinityArrive) {
  TestTensor a = Pattern(DType::kFloat32, Shape({40, 64}), 1);
  auto* elements = reinterpret_cast<float*>(a.bytes.data());
  elements[64] = NAN;
  elements[130] = INFINITY;
  for (const std::vector<int>& constants : {std::vector<int>{}, {1}}) {
    const auto all = RunOpOnEveryKernel(
        {.op = "MatMul",
         .inputs = {a, Pattern(DType::kFloat32, Shape({64, 80}), 2)},
         .constants = constants});
    ASSERT_THAT(all, IsOk());
    for (const auto& [kernel, outputs] : *all) {
      EXPECT_THAT(outputs[0], IsNear(all->back().outputs[0],
                                     ToleranceFor(DType::kFloat32,
                                                  OpFamily::kContraction, 64)))
          << kernel;
    }
  }
}

}  // namespace
}  // namespace tensord
