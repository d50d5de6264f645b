#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

// Gemm and MatMul.
namespace tensord {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr DType kExactDTypes[] = {DType::kInt32, DType::kInt64, DType::kUInt32,
                                  DType::kUInt64};

struct GemmCase {
  int64_t m, n, k;
  bool transpose_a = false;
  bool transpose_b = false;
  float alpha = 1;
  float beta = 1;
  std::vector<Dims> c = {};  // none or one
  DType dtype = DType::kFloat32;
};

std::string Name(const GemmCase& c) {
  return absl::StrCat(c.m, "x", c.n, "x", c.k, c.transpose_a ? " tA" : "",
                      c.transpose_b ? " tB" : "");
}

OpCase MakeCase(const GemmCase& c) {
  const Shape a = c.transpose_a ? Shape({c.k, c.m}) : Shape({c.m, c.k});
  const Shape b = c.transpose_b ? Shape({c.n, c.k}) : Shape({c.k, c.n});
  OpCase test{.op = "Gemm",
              .inputs = {Pattern(c.dtype, a, 1), Pattern(c.dtype, b, 2)},
              .attributes = {{"alpha", c.alpha},
                             {"beta", c.beta},
                             {"transA", int64_t{c.transpose_a}},
                             {"transB", int64_t{c.transpose_b}}}};
  for (const Dims& dims : c.c) {
    test.inputs.push_back(Pattern(c.dtype, Shape::Create(dims).value(), 3));
  }
  return test;
}

std::vector<double> Reference(const GemmCase& c, const OpCase& test) {
  std::vector<double> y;
  for (int64_t i = 0; i < c.m; ++i) {
    for (int64_t j = 0; j < c.n; ++j) {
      double sum = 0;
      for (int64_t t = 0; t < c.k; ++t) {
        sum += test.inputs[0].At(c.transpose_a ? t * c.m + i : i * c.k + t) *
               test.inputs[1].At(c.transpose_b ? j * c.k + t : t * c.n + j);
      }
      sum *= c.alpha;
      if (!c.c.empty()) {
        const Dims& dims = c.c[0];
        const int64_t columns = dims.empty() ? 1 : dims.back();
        const int64_t rows = dims.size() == 2 ? dims[0] : 1;
        sum += c.beta * test.inputs[2].At((rows == 1 ? 0 : i) * columns +
                                          (columns == 1 ? 0 : j));
      }
      y.push_back(sum);
    }
  }
  return y;
}

void ExpectMatchesReference(const GemmCase& c) {
  const OpCase test = MakeCase(c);
  const auto all = RunOpOnEveryKernel(test);
  ASSERT_THAT(all, IsOk()) << Name(c);
  const TestTensor expected =
      TensorOf(c.dtype, Shape({c.m, c.n}), Reference(c, test));
  for (const auto& [kernel, outputs] : *all) {
    EXPECT_THAT(
        outputs[0],
        IsNear(expected, ToleranceFor(c.dtype, OpFamily::kContraction, c.k)))
        << kernel << " " << Name(c);
  }
}

TEST(GemmTest, EverySiblingMatchesTheDefinitionAtOddSizes) {
  // 4 rows is the last case for few rows; 12, 32 and 192 are panels and blocks.
  for (int64_t m : {0, 1, 4, 5, 13}) {
    for (int64_t n : {0, 1, 17, 33, 65}) {
      for (int64_t k : {0, 1, 17}) {
        for (bool transpose_a : {false, true}) {
          for (bool transpose_b : {false, true}) {
            ExpectMatchesReference({.m = m,
                                    .n = n,
                                    .k = k,
                                    .transpose_a = transpose_a,
                                    .transpose_b = transpose_b,
                                    .c = {{n}}});
          }
        }
      }
    }
  }
}

TEST(GemmTest, BlocksAreSummedUp) {
  ExpectMatchesReference({.m = 49, .n = 193, .k = 193});
  ExpectMatchesReference(
      {.m = 100, .n = 200, .k = 400, .transpose_a = true, .transpose_b = true});
  ExpectMatchesReference({.m = 2, .n = 1001, .k = 1025, .transpose_b = true});
  ExpectMatchesReference({.m = 2, .n = 1001, .k = 1025});
}

TEST(GemmTest, EveryFormOfCAndTheFactors) {
  const std::vector<Dims> forms = {{},     {1},     {33},  {1, 33},
                                   {9, 1}, {9, 33}, {1, 1}};
  for (const Dims& form : forms) {
    for (int64_t m : {1, 9}) {
      if (form.size() == 2 && form[0] == 9 && m == 1) continue;
      ExpectMatchesReference(
          {.m = m, .n = 33, .k = 5, .alpha = 0.5f, .beta = -2, .c = {form}});
    }
  }
  ExpectMatchesReference({.m = 3, .n = 3, .k = 3, .beta = 0, .c = {{3}}});
}

TEST(GemmTest, OtherDTypes) {
  for (DType dtype : {DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    for (bool is_transposed : {false, true}) {
      ExpectMatchesReference({.m = 5,
                              .n = 6,
                              .k = 7,
                              .transpose_a = is_transposed,
                              .transpose_b = is_transposed,
                              .alpha = 0.5f,
                              .beta = 2,
                              .c = {{6}},
                              .dtype = dtype});
      ExpectMatchesReference({.m = 50,
                              .n = 201,
                              .k = 195,
                              .transpose_a = is_transposed,
                              .transpose_b = is_transposed,
                              .dtype = dtype});
    }
    for (int64_t n : {0, 3}) {
      for (int64_t k : {0, 2}) {
        ExpectMatchesReference(
            {.m = 2, .n = n, .k = k, .c = {{n}}, .dtype = dtype});
      }
    }
  }
  for (DType dtype : kExactDTypes) {
    ExpectMatchesReference(
        {.m = 5, .n = 6, .k = 7, .c = {{6}}, .dtype = dtype});
  }
}

TEST(GemmTest, IntegersTakeNoFactors) {
  EXPECT_THAT(
      RunOp(MakeCase(
          {.m = 2, .n = 2, .k = 2, .alpha = 0.5f, .dtype = DType::kInt32})),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("")));
}

TEST(GemmTest, FewRowsComeFirstOnlyWhereTheyAreFew) {
  const auto names = [](const GemmCase& c) {
    std::vector<std::string> names;
    const auto all = RunOpOnEveryKernel(MakeCase(c));
    for (const auto& run : *all) names.push_back(run.kernel);
    return names;
  };
  EXPECT_THAT(
      names({.m = 4, .n = 3, .k = 2}),
      ElementsAre("gemm_f32_few_rows", "gemm_f32_blocked", "gemm_f32_any"));
  EXPECT_THAT(names({.m = 5, .n = 3, .k = 2}),
              ElementsAre("gemm_f32_blocked", "gemm_f32_any"));
  EXPECT_THAT(names({.m = 1, .n = 3, .k = 2, .transpose_a = true}),
              ElementsAre("gemm_f32_blocked", "gemm_f32_any"));
}

struct MatMulCase {
  Shape a, b, y;
};

// The definition: offsets of the matrices by broadcasting their batches.
std::vector<double> Reference(const MatMulCase& c, const TestTensor& a,
                              const TestTensor& b) {
  const auto extents = [](const Shape& s, bool is_left) {
    std::vector<int64_t> e(s.extents().begin(), s.extents().end());
    if (e.size() == 1) e.insert(is_left ? e.begin() : e.end(), 1);
    return e;
  };
  const std::vector<int64_t> ea = extents(c.a, true), eb = extents(c.b, false);
  const int64_t m = ea[ea.size() - 2], k = ea.back(), n = eb.back();
  const size_t batch_rank = std::max(ea.size(), eb.size()) - 2;
  std::vector<int64_t> batch(batch_rank, 1);
  const auto extent = [&](const std::vector<int64_t>& e, size_t from_end) {
    return from_end + 3 <= e.size() ? e[e.size() - 3 - from_end] : int64_t{1};
  };
  int64_t count = 1;
  for (size_t i = 0; i < batch_rank; ++i) {
    const int64_t x = extent(ea, i), z = extent(eb, i);
    batch[batch_rank - 1 - i] = x == 1 ? z : x;
    count *= batch[batch_rank - 1 - i];
  }
  const auto matrix = [&](const std::vector<int64_t>& e, int64_t flat) {
    int64_t index = 0, stride = 1;
    for (size_t i = 0; i < batch_rank; ++i) {
      const int64_t position = flat % batch[batch_rank - 1 - i];
      flat /= batch[batch_rank - 1 - i];
      if (extent(e, i) != 1) index += position * stride;
      stride *= extent(e, i);
    }
    return index;
  };
  std::vector<double> y;
  for (int64_t q = 0; q < count; ++q) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t t = 0; t < k; ++t) {
          sum += a.At((matrix(ea, q) * m + i) * k + t) *
                 b.At((matrix(eb, q) * k + t) * n + j);
        }
        y.push_back(sum);
      }
    }
  }
  return y;
}

const MatMulCase kMatMuls[] = {
    {{3}, {3}, {}},
    {{3}, {3, 4}, {4}},
    {{2, 3}, {3}, {2}},
    {{2, 3}, {3, 4}, {2, 4}},
    {{0, 3}, {3, 4}, {0, 4}},
    {{2, 0}, {0, 4}, {2, 4}},
    {{2, 3}, {3, 0}, {2, 0}},
    {{5, 2, 3}, {3, 4}, {5, 2, 4}},
    {{2, 3}, {5, 3, 4}, {5, 2, 4}},
    {{3}, {5, 3, 4}, {5, 4}},
    {{5, 2, 3}, {3}, {5, 2}},
    {{2, 1, 5, 6}, {3, 6, 7}, {2, 3, 5, 7}},
    {{2, 3, 5, 6}, {1, 3, 6, 7}, {2, 3, 5, 7}},
    {{0, 3, 5, 6}, {3, 6, 7}, {0, 3, 5, 7}},
    {{1, 49, 193}, {1, 193, 65}, {1, 49, 65}},
    {{3, 50, 64}, {3, 64, 50}, {3, 50, 50}},
    {{1, 1, 7}, {7, 300}, {1, 1, 300}},
};

TEST(MatMulTest, EverySiblingMatchesTheDefinition) {
  for (const MatMulCase& c : kMatMuls) {
    for (DType dtype :
         {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
          DType::kInt32, DType::kInt64, DType::kUInt32, DType::kUInt64}) {
      const TestTensor a = Pattern(dtype, c.a, 1), b = Pattern(dtype, c.b, 2);
      const auto all = RunOpOnEveryKernel({.op = "MatMul", .inputs = {a, b}});
      ASSERT_THAT(all, IsOk());
      const TestTensor expected = TensorOf(dtype, c.y, Reference(c, a, b));
      for (const auto& [kernel, outputs] : *all) {
        EXPECT_THAT(outputs[0],
                    IsNear(expected, ToleranceFor(dtype, OpFamily::kContraction,
                                                  c.a[c.a.rank() - 1])))
            << kernel << " " << c.a.ToString() << " " << c.b.ToString();
      }
    }
  }
}

// 4096 + 1 + ... + 1 in steps of 16 bits would stay at 4096.
TEST(MatMulTest, SixteenBitFloatsAreRoundedOnce) {
  const int64_t k = 1025;
  std::vector<double> values(k, 1);
  values[0] = 4096;
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const auto all = RunOpOnEveryKernel(
        {.op = "MatMul",
         .inputs = {TensorOf(dtype, {1, k}, values),
                    TensorOf(dtype, {k, 1}, std::vector<double>(k, 1))}});
    ASSERT_THAT(all, IsOk());
    for (const auto& [kernel, outputs] : *all) {
      EXPECT_EQ(outputs[0], TensorOf(dtype, {1, 1}, {5120})) << kernel;
    }
  }
}

TEST(MatMulTest, IntegersWrap) {
  EXPECT_EQ(MustRunOp({.op = "MatMul",
                       .inputs = {Tensor<int32_t>({2}, {INT32_MAX, INT32_MAX}),
                                  Tensor<int32_t>({2}, {INT32_MAX, 2})}}),
            Tensor<int32_t>({}, {-1}));
}

}  // namespace
}  // namespace tensord
