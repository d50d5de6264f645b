#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/backends/cuda/named_node.h"

// Nodes of gather.cu, scatter.cu, top_k.cu and fill.cu.
namespace tensord::cuda {
namespace {

const DType kEveryWidth[] = {DType::kBool, DType::kFloat16, DType::kFloat32,
                             DType::kInt64};
const DType kNumbers[] = {DType::kFloat32,  DType::kFloat64, DType::kFloat16,
                          DType::kBFloat16, DType::kInt8,    DType::kInt16,
                          DType::kInt32,    DType::kInt64,   DType::kUInt8,
                          DType::kUInt16,   DType::kUInt32,  DType::kUInt64};

// Indices in [-extent, extent), with repetitions.
TestTensor Indices(DType dtype, Shape shape, int64_t extent) {
  std::vector<double> values;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(static_cast<double>(i * 7 % (2 * extent) - extent));
  }
  return TensorOf(dtype, std::move(shape), values);
}

TestTensor Integers(const std::vector<int64_t>& values) {
  return Tensor<int64_t>(Shape({static_cast<int64_t>(values.size())}), values);
}

void AddGathers(std::vector<NamedNode>& nodes) {
  for (DType dtype : kEveryWidth) {
    for (DType index : {DType::kInt32, DType::kInt64}) {
      const std::string suffix =
          absl::StrCat("_", DTypeName(dtype), "_", DTypeName(index));
      const auto add = [&](const std::string& name, Shape x, Shape indices,
                           int64_t axis, Shape y) {
        const int64_t extent = x[static_cast<int>(axis < 0 ? axis + 3 : axis)];
        nodes.push_back(
            {absl::StrCat("gather_", name, suffix),
             {.op = OpKind::kGather,
              .inputs = {Pattern(dtype, std::move(x)),
                         Indices(index, std::move(indices), extent)},
              .outputs = {{dtype, std::move(y)}},
              .params = AxisParams{axis}}});
      };
      add("rows", Shape({5, 2, 8}), Shape({2, 3}), 0, Shape({2, 3, 2, 8}));
      add("odd_rows", Shape({5, 3, 1}), Shape({4}), 0, Shape({4, 3, 1}));
      add("middle", Shape({2, 5, 3}), Shape({4}), 1, Shape({2, 4, 3}));
      add("last", Shape({2, 3, 5}), Shape(), -1, Shape({2, 3}));
      nodes.push_back({absl::StrCat("gather_elements", suffix),
                       {.op = OpKind::kGatherElements,
                        .inputs = {Pattern(dtype, Shape({3, 4, 5})),
                                   Indices(index, Shape({2, 6, 5}), 4)},
                        .outputs = {{dtype, Shape({2, 6, 5})}},
                        .params = AxisParams{1}}});
    }
    nodes.push_back({absl::StrCat("gather_nd_", DTypeName(dtype)),
                     {.op = OpKind::kGatherND,
                      .inputs = {Pattern(dtype, Shape({3, 4, 8})),
                                 Tensor<int64_t>(Shape({2, 2, 2}),
                                                 {0, 1, 2, -1, -3, 0, 1, 3})},
                      .outputs = {{dtype, Shape({2, 2, 8})}},
                      .params = GatherNdParams{0}}});
    nodes.push_back(
        {absl::StrCat("gather_nd_batches_", DTypeName(dtype)),
         {.op = OpKind::kGatherND,
          .inputs = {Pattern(dtype, Shape({2, 4, 3})),
                     Tensor<int64_t>(Shape({2, 3, 1}), {0, -1, 2, 3, -4, 1})},
          .outputs = {{dtype, Shape({2, 3, 3})}},
          .params = GatherNdParams{1}}});
  }
}

std::string NameOf(ScatterReduction reduction) {
  switch (reduction) {
    case ScatterReduction::kAdd:
      return "add";
    case ScatterReduction::kMul:
      return "mul";
    case ScatterReduction::kMax:
      return "max";
    case ScatterReduction::kMin:
      return "min";
    case ScatterReduction::kNone:
      break;
  }
  return "none";
}

void AddScatters(DType dtype, ScatterReduction reduction,
                 std::vector<NamedNode>& nodes) {
  const Tolerance tolerance =
      reduction == ScatterReduction::kNone
          ? Tolerance()
          : ToleranceFor(dtype, OpFamily::kReduction, 4);
  const std::string suffix =
      absl::StrCat("_", NameOf(reduction), "_", DTypeName(dtype));
  for (DType index : {DType::kInt32, DType::kInt64}) {
    // Several updates go to most elements: of them the last wins.
    nodes.push_back(
        {absl::StrCat("scatter_elements", suffix, "_", DTypeName(index)),
         {.op = OpKind::kScatterElements,
          .inputs = {Pattern(dtype, Shape({3, 5, 2})),
                     Indices(index, Shape({3, 9, 1}), 5),
                     Pattern(dtype, Shape({3, 9, 1}), 2)},
          .outputs = {{dtype, Shape({3, 5, 2})}},
          .params = ScatterParams{1, reduction}},
         tolerance});
  }
  nodes.push_back({absl::StrCat("scatter_nd", suffix),
                   {.op = OpKind::kScatterND,
                    .inputs = {Pattern(dtype, Shape({4, 3, 8})),
                               Tensor<int64_t>(Shape({5, 1}), {1, 3, 1, -3, 0}),
                               Pattern(dtype, Shape({5, 3, 8}), 2)},
                    .outputs = {{dtype, Shape({4, 3, 8})}},
                    .params = ScatterParams{0, reduction}},
                   tolerance});
  nodes.push_back({absl::StrCat("scatter_nd_elements", suffix),
                   {.op = OpKind::kScatterND,
                    .inputs = {Pattern(dtype, Shape({3, 3})),
                               Tensor<int64_t>(Shape({1, 2}), {2, -2}),
                               Pattern(dtype, Shape({1}), 2)},
                    .outputs = {{dtype, Shape({3, 3})}},
                    .params = ScatterParams{0, reduction}},
                   tolerance});
}

void AddUnpools(std::vector<NamedNode>& nodes) {
  PoolParams params;
  params.kernel_shape = {2, 2};
  params.strides = {2, 2};
  for (DType dtype : {DType::kFloat16, DType::kFloat32, DType::kFloat64}) {
    for (bool is_larger : {false, true}) {
      nodes.push_back(
          {absl::StrCat("max_unpool_", is_larger ? "larger_" : "",
                        DTypeName(dtype)),
           {.op = OpKind::kMaxUnpool,
            .inputs = {Pattern(dtype, Shape({1, 1, 2, 2})),
                       Tensor<int64_t>(Shape({1, 1, 2, 2}), {5, 7, 13, 5})},
            .outputs = {{dtype, is_larger ? Shape({1, 1, 5, 6})
                                          : Shape({1, 1, 4, 4})}},
            .params = params}});
    }
  }
}

void AddTopKs(DType dtype, std::vector<NamedNode>& nodes) {
  const auto add = [&](const std::string& name, const TestTensor& x, int axis,
                       int64_t k, bool takes_largest) {
    Dims extents(x.shape.extents().begin(), x.shape.extents().end());
    extents[axis] = k;
    const Shape y = Shape::Create(extents).value();
    nodes.push_back({absl::StrCat("top_k_", name, "_", DTypeName(dtype),
                                  takes_largest ? "" : "_least"),
                     {.op = OpKind::kTopK,
                      .inputs = {x, Integers({k})},
                      .outputs = {{dtype, y}, {DType::kInt64, y}},
                      .params = TopKParams{axis, takes_largest},
                      .is_constant = {false, true}}});
  };
  for (bool takes_largest : {true, false}) {
    add("rows", Pattern(dtype, Shape({3, 20})), 1, 5, takes_largest);
    add("columns", Pattern(dtype, Shape({2, 9, 3})), 1, 9, takes_largest);
    // More than are kept at once.
    add("long", Pattern(dtype, Shape({2, 1500})), 1, 130, takes_largest);
    add("most", Pattern(dtype, Shape({1, 1100})), 1, 700, takes_largest);
    add("none", Pattern(dtype, Shape({2, 4})), 1, 0, takes_largest);
  }
  if (dtype == DType::kFloat32 || dtype == DType::kBFloat16) {
    const TestTensor x =
        TensorOf(dtype, Shape({1, 6}),
                 {1, std::nan(""), -INFINITY, 5, std::nan(""), INFINITY});
    add("nan", x, 1, 6, true);
    add("nan", x, 1, 6, false);
  }
}

void AddFills(std::vector<NamedNode>& nodes) {
  for (DType dtype : kEveryWidth) {
    nodes.push_back({absl::StrCat("constant_of_shape_", DTypeName(dtype)),
                     {.op = OpKind::kConstantOfShape,
                      .inputs = {Integers({3, 5})},
                      .outputs = {{dtype, Shape({3, 5})}},
                      .params = FillParams{dtype, 1}}});
    for (DType index :
         {DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat16}) {
      nodes.push_back(
          {absl::StrCat("one_hot_", DTypeName(dtype), "_", DTypeName(index)),
           {.op = OpKind::kOneHot,
            .inputs = {TensorOf(index, Shape({2, 3}), {0, -1, 2.5, 9, -9, 3}),
                       Tensor<int64_t>(Shape(), {4}),
                       TensorOf(dtype, Shape({2}), {0, 1})},
            .outputs = {{dtype, Shape({2, 4, 3})}},
            .params = AxisParams{1}}});
    }
  }
  for (DType dtype : kNumbers) {
    for (int64_t k : {-1, 0, 2, 100}) {
      nodes.push_back({absl::StrCat("eye_like_", DTypeName(dtype), "_", k + 1),
                       {.op = OpKind::kEyeLike,
                        .inputs = {Pattern(DType::kInt8, Shape({4, 5}))},
                        .outputs = {{dtype, Shape({4, 5})}},
                        .params = EyeLikeParams{dtype, k}}});
    }
  }
  for (DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
        DType::kInt16, DType::kInt32, DType::kInt64}) {
    nodes.push_back({absl::StrCat("range_", DTypeName(dtype)),
                     {.op = OpKind::kRange,
                      .inputs = {TensorOf(dtype, Shape(), {10}),
                                 TensorOf(dtype, Shape(), {-11}),
                                 TensorOf(dtype, Shape(), {-3})},
                      .outputs = {{dtype, Shape({7})}}},
                     ToleranceFor(dtype, OpFamily::kArithmetic)});
  }
  nodes.push_back({"shape_of_part",
                   {.op = OpKind::kShape,
                    .inputs = {Pattern(DType::kFloat32, Shape({2, 3, 4}))},
                    .outputs = {{DType::kInt64, Shape({2})}},
                    .params = ShapeParams{-2}}});
  nodes.push_back({"size",
                   {.op = OpKind::kSize,
                    .inputs = {Pattern(DType::kFloat32, Shape({2, 3, 4}))},
                    .outputs = {{DType::kInt64, Shape()}}}});
}

}  // namespace

std::vector<NamedNode> IndexingNodes() {
  std::vector<NamedNode> nodes;
  AddGathers(nodes);
  for (DType dtype : kEveryWidth) {
    AddScatters(dtype, ScatterReduction::kNone, nodes);
  }
  for (DType dtype : kNumbers) {
    for (ScatterReduction reduction :
         {ScatterReduction::kAdd, ScatterReduction::kMul,
          ScatterReduction::kMax, ScatterReduction::kMin}) {
      AddScatters(dtype, reduction, nodes);
    }
    AddTopKs(dtype, nodes);
  }
  AddUnpools(nodes);
  AddFills(nodes);
  return nodes;
}

}  // namespace tensord::cuda
