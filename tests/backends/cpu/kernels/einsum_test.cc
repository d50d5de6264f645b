#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

// One loop over all labels. Terms are spelled out: an ellipsis is written as
// the capital letters that it stands for, whose extents broadcast.
std::vector<double> Reference(const std::vector<std::string>& terms,
                              const std::string& output,
                              const std::vector<TestTensor>& inputs,
                              Dims& y_extents) {
  std::map<char, int64_t> extents;
  for (size_t i = 0; i < terms.size(); ++i) {
    for (size_t d = 0; d < terms[i].size(); ++d) {
      int64_t& extent = extents.try_emplace(terms[i][d], 1).first->second;
      const int64_t own = inputs[i].shape[static_cast<int>(d)];
      if (own != 1) extent = own;
    }
  }
  int64_t total = 1, y_count = 1;
  for (const auto& [label, extent] : extents) total *= extent;
  y_extents.clear();
  for (char label : output) {
    y_extents.push_back(extents[label]);
    y_count *= extents[label];
  }
  std::vector<double> y(y_count, 0);
  for (int64_t point = 0; point < total; ++point) {
    std::map<char, int64_t> index;
    int64_t rest = point;
    for (const auto& [label, extent] : extents) {
      index[label] = rest % extent;
      rest /= extent;
    }
    double product = 1;
    for (size_t i = 0; i < terms.size(); ++i) {
      int64_t at = 0;
      for (size_t d = 0; d < terms[i].size(); ++d) {
        const int64_t own = inputs[i].shape[static_cast<int>(d)];
        at = at * own + (own == 1 ? 0 : index[terms[i][d]]);
      }
      product *= inputs[i].At(at);
    }
    int64_t to = 0;
    for (char label : output) to = to * extents[label] + index[label];
    y[to] += product;
  }
  return y;
}

struct EinsumCase {
  std::string equation;
  std::vector<Shape> shapes;
  std::vector<std::string> terms;
  std::string output;
};

const EinsumCase kCases[] = {
    // One operand: permuted, summed, diagonals.
    {"ij->ji", {{3, 5}}, {"ij"}, "ji"},
    {"ij->i", {{3, 5}}, {"ij"}, "i"},
    {"ij->", {{3, 5}}, {"ij"}, ""},
    {"->", {Shape({})}, {""}, ""},
    {"ii", {{4, 4}}, {"ii"}, ""},
    {"ii->i", {{4, 4}}, {"ii"}, "i"},
    {"iji->ji", {{3, 4, 3}}, {"iji"}, "ji"},
    {"iijj->j", {{3, 3, 2, 2}}, {"iijj"}, "j"},
    {"ba", {{3, 5}}, {"ba"}, "ab"},
    {"bA", {{3, 5}}, {"bA"}, "Ab"},  // capitals come first
    {"...ij->...ji", {{2, 3, 4, 5}}, {"ABij"}, "ABji"},
    {"...", {{2, 3}}, {"AB"}, "AB"},
    {"i...->...", {{3, 2, 2}}, {"iAB"}, "AB"},
    // Two: the ways in which matrices lie.
    {"ij,jk->ik", {{3, 17}, {17, 5}}, {"ij", "jk"}, "ik"},
    {"ij,jk->ki", {{3, 17}, {17, 5}}, {"ij", "jk"}, "ki"},
    {"ji,jk->ik", {{17, 3}, {17, 5}}, {"ji", "jk"}, "ik"},
    {"ij,kj->ik", {{3, 17}, {5, 17}}, {"ij", "kj"}, "ik"},
    {" i j , j k ", {{3, 4}, {4, 5}}, {"ij", "jk"}, "ik"},
    {"bij,bjk->bik", {{4, 3, 7}, {4, 7, 5}}, {"bij", "bjk"}, "bik"},
    {"bij,jk->bik", {{4, 3, 7}, {7, 5}}, {"bij", "jk"}, "bik"},
    {"ibj,jkb->kib", {{3, 4, 7}, {7, 5, 4}}, {"ibj", "jkb"}, "kib"},
    {"bhqd,bkhd->bhqk", {{2, 3, 5, 4}, {2, 6, 3, 4}}, {"bhqd", "bkhd"}, "bhqk"},
    {"i,i->", {{50}, {50}}, {"i", "i"}, ""},
    {"i,j->ij", {{3}, {4}}, {"i", "j"}, "ij"},
    {"i,j->", {{3}, {4}}, {"i", "j"}, ""},
    {"ij,ij->ij", {{3, 4}, {3, 4}}, {"ij", "ij"}, "ij"},
    {"iik,kj->ij", {{3, 3, 4}, {4, 2}}, {"iik", "kj"}, "ij"},
    {"ijm,jkn->ik", {{3, 4, 2}, {4, 5, 3}}, {"ijm", "jkn"}, "ik"},
    {",ij->ij", {Shape({}), {3, 4}}, {"", "ij"}, "ij"},
    {"...ij,...jk->...ik",
     {{2, 1, 3, 4}, {1, 5, 4, 2}},
     {"ABij", "ABjk"},
     "ABik"},
    {"...ij,jk", {{2, 3, 4}, {4, 2}}, {"Aij", "jk"}, "Aik"},
    {"i...,i...->...", {{3, 2}, {3, 1}}, {"iA", "iA"}, "A"},
    // More.
    {"ij,jk,kl->il", {{3, 4}, {4, 5}, {5, 2}}, {"ij", "jk", "kl"}, "il"},
    {"ij,jk,kl->li", {{3, 4}, {4, 5}, {5, 2}}, {"ij", "jk", "kl"}, "li"},
    {"ab,cd,bc->ad", {{2, 3}, {4, 5}, {3, 4}}, {"ab", "cd", "bc"}, "ad"},
    {"i,i,i,i->i", {{3}, {3}, {3}, {3}}, {"i", "i", "i", "i"}, "i"},
    {"...i,...i,i->...", {{2, 3}, {1, 3}, {3}}, {"Ai", "Ai", "i"}, "A"},
    // Past the tiles of a product.
    {"ij,jk->ik", {{5, 193}, {193, 197}}, {"ij", "jk"}, "ik"},
    {"ji,kj->ik", {{193, 5}, {197, 193}}, {"ji", "kj"}, "ik"},
    // Nothing to sum, nothing to give.
    {"ij,jk->ik", {{3, 0}, {0, 2}}, {"ij", "jk"}, "ik"},
    {"ij,jk->ik", {{0, 3}, {3, 2}}, {"ij", "jk"}, "ik"},
    {"ij->i", {{3, 0}}, {"ij"}, "i"},
    {"ij,k->i", {{3, 2}, {0}}, {"ij", "k"}, "i"},
    {"ab,c,bd->ad", {{2, 0}, {3}, {0, 4}}, {"ab", "c", "bd"}, "ad"},
};

TEST(EinsumTest, MatchesTheDefinition) {
  for (const EinsumCase& c : kCases) {
    for (DType dtype :
         {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
          DType::kInt8, DType::kInt64, DType::kUInt16}) {
      std::vector<TestTensor> inputs;
      double largest = 1;
      for (size_t i = 0; i < c.shapes.size(); ++i) {
        inputs.push_back(Pattern(dtype, c.shapes[i], i + 1));
        largest =
            std::max(largest, static_cast<double>(c.shapes[i].element_count()));
      }
      if (largest > 1000 && dtype != DType::kFloat32) continue;
      Dims extents;
      std::vector<double> y = Reference(c.terms, c.output, inputs, extents);
      // 8 bits hold the sums modulo 256.
      if (dtype == DType::kInt8) {
        for (double& v : y) v = static_cast<int8_t>(static_cast<int64_t>(v));
      }
      if (dtype == DType::kUInt16) {
        for (double& v : y) v = static_cast<uint16_t>(static_cast<int64_t>(v));
      }
      EXPECT_THAT(MustRunOp({.op = "Einsum",
                             .inputs = inputs,
                             .attributes = {{"equation", c.equation}}}),
                  IsNear(TensorOf(dtype, Shape::Create(extents).value(), y),
                         ToleranceFor(dtype, OpFamily::kContraction,
                                      static_cast<int64_t>(largest))))
          << c.equation << " " << DTypeName(dtype);
    }
  }
}

// A sum in float32 would lose a quarter of them.
TEST(EinsumTest, ALongSumKeepsItsPrecision) {
  const int64_t n = 1 << 22;
  const TestTensor x =
      TensorOf(DType::kFloat32, {n}, std::vector<double>(n, 0.1f));
  EXPECT_THAT(MustRunOp({.op = "Einsum",
                         .inputs = {x},
                         .attributes = {{"equation", std::string("i->")}}}),
              Near({static_cast<double>(n) * 0.1f}, 0.05));
}

}  // namespace
}  // namespace tensord
