#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/backends/cuda/named_node.h"

// Nodes of byte_products.cu and byte_conv.cu. Results are equal but for those
// that a factor's rounding takes to the other side of a half.
namespace tensord::cuda {
namespace {

constexpr DType kBytes[] = {DType::kInt8, DType::kUInt8};

// 8-bit integers of the whole range.
TestTensor Integers(DType dtype, const Shape& shape, uint64_t seed) {
  const int64_t least = dtype == DType::kInt8 ? -128 : 0;
  std::vector<double> values;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(least + static_cast<int64_t>((i * 37 + seed * 91) % 256));
  }
  return TensorOf(dtype, shape, values);
}

TestTensor ScalesOf(DType dtype, const Shape& shape, double first) {
  std::vector<double> values;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(first * (1 + static_cast<double>(i % 5)));
  }
  return TensorOf(dtype, shape, values);
}

std::string Letters(std::initializer_list<DType> dtypes) {
  std::string letters;
  for (DType dtype : dtypes) letters += dtype == DType::kInt8 ? 's' : 'u';
  return letters;
}

struct Factors {
  std::string name;
  Shape a, b, y;
  Shape a_lines, b_lines;  // of zero points and scales
};

std::vector<Factors> AllFactors() {
  return {
      {"plain", {3, 20}, {20, 7}, {3, 7}, {}, {}},
      {"by_line", {66, 18}, {18, 68}, {66, 68}, {66}, {68}},
      {"by_line_of_each", {2, 5, 9}, {9, 6}, {2, 5, 6}, {5}, {6}},
      {"by_line_of_a_batch", {2, 5, 9}, {9, 6}, {2, 5, 6}, {2, 5, 1}, {6}},
      {"by_line_of_both_batches",
       {2, 5, 9},
       {2, 9, 6},
       {2, 5, 6},
       {5},
       {2, 1, 6}},
      {"of_a_vector", {9}, {9, 6}, {6}, {}, {6}},
  };
}

void AddProducts(std::vector<NamedNode>& nodes) {
  for (DType a : kBytes) {
    for (DType b : kBytes) {
      for (const Factors& f : AllFactors()) {
        nodes.push_back(
            {absl::StrCat("matmul_integer_", f.name, "_", Letters({a, b})),
             {.op = OpKind::kMatMulInteger,
              .inputs = {Integers(a, f.a, 1), Integers(b, f.b, 2),
                         Integers(a, f.a_lines, 3), Integers(b, f.b_lines, 4)},
              .outputs = {{DType::kInt32, f.y}}}});
        const DType y = a;
        const DType s = b == a               ? DType::kFloat32
                        : a == DType::kUInt8 ? DType::kFloat16
                                             : DType::kBFloat16;
        nodes.push_back(
            {absl::StrCat("qlinear_matmul_", f.name, "_", Letters({a, b, y})),
             {.op = OpKind::kQLinearMatMul,
              .inputs = {Integers(a, f.a, 1), ScalesOf(s, f.a_lines, 0.125),
                         Integers(a, f.a_lines, 3), Integers(b, f.b, 2),
                         ScalesOf(s, f.b_lines, 0.0625),
                         Integers(b, f.b_lines, 4), ScalesOf(s, {}, 16),
                         Integers(y, {}, 5)},
              .outputs = {{y, f.y}}},
             ToleranceFor(y, OpFamily::kQuantized)});
      }
    }
  }
  nodes.push_back({"matmul_integer_without_zero_points",
                   {.op = OpKind::kMatMulInteger,
                    .inputs = {Integers(DType::kUInt8, {3, 20}, 1),
                               Integers(DType::kInt8, {20, 7}, 2)},
                    .outputs = {{DType::kInt32, Shape({3, 7})}}}});
}

void AddConvolutions(std::vector<NamedNode>& nodes) {
  const ConvParams params = {
      .strides = {2, 1}, .pads = {1, 0, 1, 2}, .group = 2};
  for (DType x : kBytes) {
    for (DType w : kBytes) {
      for (int64_t rows : {6, 20}) {  // single outputs, tiles
        const Shape y({2, rows, 4, 10});
        const TestTensor image = Integers(x, {2, 4, 7, 10}, 1);
        const TestTensor weights = Integers(w, {rows, 2, 2, 3}, 2);
        const Shape lines = rows == 6 ? Shape({rows}) : Shape();
        nodes.push_back(
            {absl::StrCat("conv_integer_", rows, "_", Letters({x, w})),
             {.op = OpKind::kConvInteger,
              .inputs = {image, weights, Integers(x, {}, 3),
                         Integers(w, lines, 4)},
              .outputs = {{DType::kInt32, y}},
              .params = params}});
        for (DType out : kBytes) {
          nodes.push_back(
              {absl::StrCat("qlinear_conv_", rows, "_", Letters({x, w, out})),
               {.op = OpKind::kQLinearConv,
                .inputs = {image, ScalesOf(DType::kFloat32, {}, 0.125),
                           Integers(x, {}, 3), weights,
                           ScalesOf(DType::kFloat32, {rows}, 0.0625),
                           Integers(w, lines, 4),
                           ScalesOf(DType::kFloat32, {}, 16),
                           Integers(out, {}, 5),
                           Pattern(DType::kInt32, Shape({rows}), 6)},
                .outputs = {{out, y}},
                .params = params},
               ToleranceFor(out, OpFamily::kQuantized)});
        }
      }
    }
  }
}

}  // namespace

std::vector<NamedNode> ByteNodes() {
  std::vector<NamedNode> nodes;
  AddProducts(nodes);
  AddConvolutions(nodes);
  return nodes;
}

}  // namespace tensord::cuda
