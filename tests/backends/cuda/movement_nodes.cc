#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/backends/cuda/named_node.h"

// Nodes of movement.cc and padding.cu.
namespace tensord::cuda {
namespace {

TestTensor Integers(const std::vector<int64_t>& values) {
  return Tensor<int64_t>(Shape({static_cast<int64_t>(values.size())}), values);
}

void AddTransposes(std::vector<NamedNode>& nodes) {
  const auto add = [&](DType dtype, Shape x, Dims permutation) {
    Dims extents;
    for (int64_t d : permutation) extents.push_back(x[static_cast<int>(d)]);
    std::string name = absl::StrCat("transpose_", DTypeName(dtype));
    for (int64_t d : permutation) absl::StrAppend(&name, "_", d);
    absl::StrAppend(&name, "_of_", x.element_count());
    nodes.push_back({name,
                     {.op = OpKind::kTranspose,
                      .inputs = {Pattern(dtype, x)},
                      .outputs = {{dtype, Shape::Create(extents).value()}},
                      .params = TransposeParams{permutation}}});
  };
  // Every element size in tiles, past a tile's edge, and too small for them.
  for (DType dtype : {DType::kInt8, DType::kFloat16, DType::kFloat32,
                      DType::kFloat64, DType::kBool}) {
    add(dtype, Shape({2, 67, 33}), {0, 2, 1});
    add(dtype, Shape({5, 3}), {1, 0});
    add(dtype, Shape({2, 8, 3, 16}), {0, 2, 1, 3});  // attention's heads
  }
  add(DType::kFloat16, Shape({2, 3, 5, 9}), {0, 2, 3, 1});
  add(DType::kFloat16, Shape({1, 64, 13, 5}), {0, 2, 3, 1});
  add(DType::kFloat32, Shape({2, 3, 4, 5, 6}), {4, 2, 0, 3, 1});
  add(DType::kFloat32, Shape({7, 1, 40, 1, 20}), {4, 1, 3, 2, 0});
  add(DType::kFloat32, Shape({3, 0, 4}), {2, 1, 0});
  add(DType::kFloat32, Shape(), {});
  nodes.push_back({"transpose_of_a_view",
                   {.op = OpKind::kTranspose,
                    .inputs = {Pattern(DType::kFloat32, Shape({6, 20}))},
                    .outputs = {{DType::kFloat32, Shape({10, 3})}},
                    .params = TransposeParams{},
                    .input_layouts = {{Shape({3, 10}), {40, 1}, 1}}}});
}

void AddSlices(std::vector<NamedNode>& nodes) {
  struct Case {
    std::string name;
    Shape x;
    std::vector<int64_t> starts, ends, axes, steps;
    Shape y;
  };
  const std::vector<Case> cases = {
      {"rows", Shape({6, 32}), {1}, {5}, {0}, {1}, Shape({4, 32})},
      {"columns", Shape({6, 32}), {3}, {9}, {-1}, {1}, Shape({6, 6})},
      {"steps", Shape({9, 10}), {8, 1}, {0, 9}, {0, 1}, {-3, 2}, Shape({3, 4})},
      {"reversed", Shape({40}), {100}, {-100}, {0}, {-1}, Shape({40})},
      {"nothing", Shape({4, 4}), {3}, {1}, {1}, {1}, Shape({4, 0})},
  };
  for (const Case& test : cases) {
    for (DType dtype : {DType::kUInt8, DType::kBFloat16, DType::kInt64}) {
      nodes.push_back({absl::StrCat("slice_", test.name, "_", DTypeName(dtype)),
                       {.op = OpKind::kSlice,
                        .inputs = {Pattern(dtype, test.x),
                                   Integers(test.starts), Integers(test.ends),
                                   Integers(test.axes), Integers(test.steps)},
                        .outputs = {{dtype, test.y}},
                        .is_constant = {false, true, true, true, true}}});
    }
  }
  nodes.push_back({"slice_with_int32_indices",
                   {.op = OpKind::kSlice,
                    .inputs = {Pattern(DType::kFloat32, Shape({5, 7})),
                               Tensor<int32_t>(Shape({2}), {1, 2}),
                               Tensor<int32_t>(Shape({2}), {4, -1})},
                    .outputs = {{DType::kFloat32, Shape({3, 4})}},
                    .is_constant = {false, true, true}}});
}

void AddConcats(std::vector<NamedNode>& nodes) {
  const auto add = [&](const std::string& name, DType dtype,
                       const std::vector<Shape>& shapes, int64_t axis,
                       Shape y) {
    TestNode node{.op = OpKind::kConcat,
                  .outputs = {{dtype, std::move(y)}},
                  .params = AxisParams{axis}};
    uint64_t seed = 1;
    for (const Shape& shape : shapes) {
      node.inputs.push_back(Pattern(dtype, shape, seed++));
    }
    nodes.push_back(
        {absl::StrCat("concat_", name, "_", DTypeName(dtype)), node});
  };
  for (DType dtype :
       {DType::kInt8, DType::kFloat16, DType::kFloat32, DType::kUInt64}) {
    add("rows", dtype, {Shape({2, 16}), Shape({3, 16})}, 0, Shape({5, 16}));
    add("columns", dtype, {Shape({3, 8}), Shape({3, 5}), Shape({3, 0})}, -1,
        Shape({3, 13}));
    add("wide_columns", dtype, {Shape({3, 32}), Shape({3, 64})}, 1,
        Shape({3, 96}));
  }
  add("middle", DType::kFloat32, {Shape({2, 3, 4}), Shape({2, 1, 4})}, 1,
      Shape({2, 4, 4}));
  // More than one launch takes.
  add("many", DType::kFloat32, std::vector<Shape>(40, Shape({2, 3})), 1,
      Shape({2, 120}));
}

void AddSplits(std::vector<NamedNode>& nodes) {
  const auto add = [&](const std::string& name, DType dtype, Shape x,
                       int64_t axis, const std::vector<int64_t>& parts,
                       const std::vector<Shape>& shapes) {
    TestNode node{.op = OpKind::kSplit,
                  .inputs = {Pattern(dtype, std::move(x))},
                  .params = SplitParams{axis, /*last_may_be_smaller=*/true}};
    if (!parts.empty()) node.inputs.push_back(Integers(parts));
    for (const Shape& shape : shapes) node.outputs.push_back({dtype, shape});
    node.is_constant = {false, true};
    nodes.push_back(
        {absl::StrCat("split_", name, "_", DTypeName(dtype)), node});
  };
  for (DType dtype :
       {DType::kBool, DType::kFloat16, DType::kFloat32, DType::kInt64}) {
    add("equally", dtype, Shape({2, 48}), 1, {},
        {Shape({2, 16}), Shape({2, 16}), Shape({2, 16})});
    add("unequally", dtype, Shape({2, 7, 3}), 1, {2, 0, 5},
        {Shape({2, 2, 3}), Shape({2, 0, 3}), Shape({2, 5, 3})});
    add("with_a_rest", dtype, Shape({7}), -1, {}, {Shape({4}), Shape({3})});
  }
}

void AddTiles(std::vector<NamedNode>& nodes) {
  const auto add = [&](DType dtype, Shape x, std::vector<int64_t> repeats) {
    Dims extents;
    for (int d = 0; d < x.rank(); ++d) extents.push_back(x[d] * repeats[d]);
    nodes.push_back(
        {absl::StrCat("tile_", DTypeName(dtype), "_", nodes.size()),
         {.op = OpKind::kTile,
          .inputs = {Pattern(dtype, std::move(x)), Integers(repeats)},
          .outputs = {{dtype, Shape::Create(extents).value()}},
          .is_constant = {false, true}}});
  };
  add(DType::kFloat32, Shape({2, 3}), {2, 3});
  add(DType::kFloat16, Shape({1, 16}), {5, 1});
  add(DType::kInt8, Shape({4, 1, 2}), {1, 7, 2});
  add(DType::kInt64, Shape({3}), {0});
}

void AddExpands(std::vector<NamedNode>& nodes) {
  const auto add = [&](DType dtype, Shape x, Shape y) {
    nodes.push_back(
        {absl::StrCat("expand_", DTypeName(dtype), "_", nodes.size()),
         {.op = OpKind::kExpand,
          .inputs = {Pattern(dtype, std::move(x)), Integers({1})},
          .outputs = {{dtype, std::move(y)}}}});
  };
  add(DType::kFloat32, Shape({3, 1}), Shape({2, 3, 4}));
  add(DType::kFloat16, Shape({1, 16}), Shape({5, 16}));
  add(DType::kBool, Shape(), Shape({33}));
  add(DType::kInt64, Shape({2, 1, 1}), Shape({2, 0, 3}));
}

void AddBlocks(std::vector<NamedNode>& nodes) {
  for (DType dtype : {DType::kUInt8, DType::kFloat32, DType::kFloat64}) {
    for (bool depth_is_last : {true, false}) {
      nodes.push_back({absl::StrCat("depth_to_space_", DTypeName(dtype),
                                    depth_is_last ? "_dcr" : "_crd"),
                       {.op = OpKind::kDepthToSpace,
                        .inputs = {Pattern(dtype, Shape({2, 8, 3, 5}))},
                        .outputs = {{dtype, Shape({2, 2, 6, 10})}},
                        .params = BlockParams{2, depth_is_last}}});
    }
    nodes.push_back({absl::StrCat("space_to_depth_", DTypeName(dtype)),
                     {.op = OpKind::kSpaceToDepth,
                      .inputs = {Pattern(dtype, Shape({2, 2, 6, 9}))},
                      .outputs = {{dtype, Shape({2, 18, 2, 3})}},
                      .params = BlockParams{3}}});
  }
}

void AddPads(std::vector<NamedNode>& nodes) {
  const auto add = [&](const std::string& name, DType dtype, PadMode mode,
                       Shape x, std::vector<int64_t> pads, Shape y) {
    TestNode node{.op = OpKind::kPad,
                  .inputs = {Pattern(dtype, std::move(x)), Integers(pads)},
                  .outputs = {{dtype, std::move(y)}},
                  .params = PadParams{mode},
                  .is_constant = {false, true}};
    if (mode == PadMode::kConstant) {
      node.inputs.push_back(TensorOf(dtype, Shape(), {3}));
    }
    nodes.push_back({absl::StrCat("pad_", name, "_", DTypeName(dtype)), node});
  };
  const std::pair<PadMode, const char*> modes[] = {
      {PadMode::kConstant, "constant"},
      {PadMode::kReflect, "reflect"},
      {PadMode::kEdge, "edge"},
      {PadMode::kWrap, "wrap"}};
  for (const auto& [mode, name] : modes) {
    for (DType dtype :
         {DType::kInt8, DType::kFloat16, DType::kFloat32, DType::kInt64}) {
      add(name, dtype, mode, Shape({2, 2, 4, 5}), {0, 0, 1, 3, 0, 0, 2, 3},
          Shape({2, 2, 7, 11}));
    }
    add(absl::StrCat(name, "_and_crop"), DType::kFloat32, mode, Shape({6, 4}),
        {-2, 1, 3, -1}, Shape({7, 4}));
    add(absl::StrCat(name, "_far"), DType::kFloat32, mode, Shape({3}), {8, 7},
        Shape({18}));
  }
  nodes.push_back({"pad_some_axes",
                   {.op = OpKind::kPad,
                    .inputs = {Pattern(DType::kFloat32, Shape({2, 3, 4})),
                               Integers({1, 2, 0, 1}), TestTensor(),
                               Tensor<int32_t>(Shape({2}), {-1, 0})},
                    .outputs = {{DType::kFloat32, Shape({5, 3, 5})}},
                    .params = PadParams{},
                    .is_constant = {false, true, false, true}}});
}

void AddPlaced(std::vector<NamedNode>& nodes) {
  for (DType dtype :
       {DType::kBool, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
    nodes.push_back(
        {absl::StrCat("center_crop_pad_", DTypeName(dtype)),
         {.op = OpKind::kCenterCropPad,
          .inputs = {Pattern(dtype, Shape({7, 4, 5})), Integers({4, 9})},
          .outputs = {{dtype, Shape({4, 9, 5})}},
          .params = AxesParams{{0, 1}}}});
    for (int64_t k : {-100, -1, 0, 2}) {
      for (bool is_upper : {true, false}) {
        nodes.push_back({absl::StrCat("trilu_", DTypeName(dtype),
                                      is_upper ? "_u" : "_l", k + 100),
                         {.op = OpKind::kTrilu,
                          .inputs = {Pattern(dtype, Shape({2, 4, 5})),
                                     Tensor<int64_t>(Shape(), {k})},
                          .outputs = {{dtype, Shape({2, 4, 5})}},
                          .params = TriluParams{is_upper}}});
      }
    }
    for (bool is_time_first : {true, false}) {
      nodes.push_back(
          {absl::StrCat("reverse_sequence_", DTypeName(dtype),
                        is_time_first ? "_time_first" : "_batch_first"),
           {.op = OpKind::kReverseSequence,
            .inputs = {Pattern(dtype, Shape({4, 4, 3})),
                       Integers({0, 1, 3, 4})},
            .outputs = {{dtype, Shape({4, 4, 3})}},
            .params = ReverseSequenceParams{is_time_first}}});
    }
  }
}

}  // namespace

std::vector<NamedNode> MovementNodes() {
  std::vector<NamedNode> nodes;
  AddTransposes(nodes);
  AddSlices(nodes);
  AddConcats(nodes);
  AddSplits(nodes);
  AddTiles(nodes);
  AddExpands(nodes);
  AddBlocks(nodes);
  AddPads(nodes);
  AddPlaced(nodes);
  return nodes;
}

}  // namespace tensord::cuda
