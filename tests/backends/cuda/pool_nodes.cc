#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/window.h"
#include "tests/backends/cuda/named_node.h"

// Nodes of pool.cu and global_pool.cu.
namespace tensord::cuda {
namespace {

// The shape of a pool's output, for the case's input.
Shape PooledShape(const PoolParams& params, const Shape& x) {
  const int rank = x.rank() - 2;
  const int first = params.channels_last ? 1 : 2;
  Dims extents(x.extents().begin(), x.extents().end());
  for (int i = 0; i < rank; ++i) {
    extents[first + i] = ResolveWindowAxis(params, i, rank, x[first + i])
                             .OutputExtent(x[first + i], params.ceil_mode);
  }
  return Shape::Create(extents).value();
}

struct Window {
  std::string name;
  Shape x;
  PoolParams params;
};

std::vector<Window> Windows() {
  return {
      {"plain", Shape({2, 3, 9, 7}), {.kernel_shape = {2, 2}}},
      {"resnet",
       Shape({1, 2, 14, 13}),
       {.kernel_shape = {3, 3}, .strides = {2, 2}, .pads = {1, 1, 1, 1}}},
      {"dilated",
       Shape({1, 2, 11, 12}),
       {.kernel_shape = {3, 2}, .strides = {1, 2}, .dilations = {3, 2}}},
      {"line", Shape({2, 3, 20}), {.kernel_shape = {4}, .strides = {3}}},
      {"volume",
       Shape({1, 2, 5, 6, 7}),
       {.kernel_shape = {2, 3, 2},
        .strides = {2, 1, 2},
        .pads = {1, 0, 1, 0, 1, 1}}},
      {"ceil",
       Shape({1, 2, 8, 9}),
       {.kernel_shape = {3, 3},
        .strides = {3, 2},
        .pads = {0, 0, 1, 1},
        .ceil_mode = true}},
      {"same",
       Shape({1, 1, 9, 10}),
       {.kernel_shape = {4, 3},
        .strides = {2, 2},
        .auto_pad = AutoPad::kSameLower}},
      // Its first window is all padding.
      {"padding",
       Shape({1, 2, 4}),
       {.kernel_shape = {2}, .strides = {2}, .pads = {3, 2}}},
      {"empty", Shape({0, 3, 4, 4}), {.kernel_shape = {2, 2}}},
  };
}

void AddPools(OpKind op, const std::string& name, DType dtype, OpFamily family,
              std::vector<NamedNode>& nodes) {
  for (Window window : Windows()) {
    const auto add = [&](const std::string& suffix) {
      nodes.push_back(
          {absl::StrCat(name, "_", window.name, suffix, "_", DTypeName(dtype)),
           {.op = op,
            .inputs = {Pattern(dtype, window.x)},
            .outputs = {{dtype, PooledShape(window.params, window.x)}},
            .params = window.params},
           ToleranceFor(dtype, family, 9)});
    };
    add("");
    if (op == OpKind::kAveragePool) {
      window.params.count_include_pad = true;
      add("_with_padding");
    }
    if (op == OpKind::kLpPool) {
      window.params.p = 3;
      add("_p3");
      continue;
    }
    window.params.channels_last = true;
    add("_channels_last");
  }
  if (op == OpKind::kLpPool) return;
  // Channels in whole vectors.
  PoolParams params{.kernel_shape = {3, 3},
                    .strides = {2, 2},
                    .pads = {1, 1, 1, 1},
                    .channels_last = true};
  const Shape x({2, 7, 6, 32});
  nodes.push_back({absl::StrCat(name, "_vectors_", DTypeName(dtype)),
                   {.op = op,
                    .inputs = {Pattern(dtype, x)},
                    .outputs = {{dtype, PooledShape(params, x)}},
                    .params = params},
                   ToleranceFor(dtype, family, 9)});
}

void AddIndices(DType dtype, std::vector<NamedNode>& nodes) {
  for (Window window : Windows()) {
    for (bool is_column_major : {false, true}) {
      window.params.indices_are_column_major = is_column_major;
      const Shape y = PooledShape(window.params, window.x);
      nodes.push_back({absl::StrCat("max_pool_indices_", window.name,
                                    is_column_major ? "_columns" : "_rows", "_",
                                    DTypeName(dtype)),
                       {.op = OpKind::kMaxPool,
                        .inputs = {Pattern(dtype, window.x)},
                        .outputs = {{dtype, y}, {DType::kInt64, y}},
                        .params = window.params}});
    }
  }
}

void AddGlobalPools(OpKind op, const std::string& name, DType dtype,
                    OpFamily family, std::vector<NamedNode>& nodes) {
  const auto add = [&](const Shape& x, const PoolParams& params) {
    Dims extents(x.extents().begin(), x.extents().end());
    const int channel = params.channels_last ? x.rank() - 1 : 1;
    for (int d = 1; d < x.rank(); ++d) {
      if (d != channel) extents[d] = 1;
    }
    const int64_t depth = x.element_count() / (x[0] * x[channel]);
    nodes.push_back(
        {absl::StrCat(name, "_", nodes.size(), "_", DTypeName(dtype)),
         {.op = op,
          .inputs = {Pattern(dtype, x)},
          .outputs = {{dtype, Shape::Create(extents).value()}},
          .params = params},
         ToleranceFor(dtype, family, depth)});
  };
  add(Shape({2, 5, 7, 7}), {});
  add(Shape({3, 11, 1}), {});
  add(Shape({1, 2, 67, 80}), {});
  if (op == OpKind::kGlobalLpPool) {
    add(Shape({2, 3, 4, 5}), {.p = 1});
    add(Shape({2, 3, 4, 5}), {.p = 3});
    return;
  }
  add(Shape({2, 7, 7, 45}), {.channels_last = true});
  add(Shape({1, 3, 64}), {.channels_last = true});
}

}  // namespace

std::vector<NamedNode> PoolNodes() {
  std::vector<NamedNode> nodes;
  for (DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    AddPools(OpKind::kMaxPool, "max_pool", dtype, OpFamily::kMovement, nodes);
    AddPools(OpKind::kAveragePool, "average_pool", dtype, OpFamily::kReduction,
             nodes);
    AddPools(OpKind::kLpPool, "lp_pool", dtype, OpFamily::kReduction, nodes);
    AddIndices(dtype, nodes);
    AddGlobalPools(OpKind::kGlobalMaxPool, "global_max_pool", dtype,
                   OpFamily::kMovement, nodes);
    AddGlobalPools(OpKind::kGlobalAveragePool, "global_average_pool", dtype,
                   OpFamily::kReduction, nodes);
    AddGlobalPools(OpKind::kGlobalLpPool, "global_lp_pool", dtype,
                   OpFamily::kReduction, nodes);
  }
  for (DType dtype : {DType::kInt8, DType::kUInt8}) {
    AddPools(OpKind::kMaxPool, "max_pool", dtype, OpFamily::kMovement, nodes);
    AddIndices(dtype, nodes);
  }
  return nodes;
}

}  // namespace tensord::cuda
