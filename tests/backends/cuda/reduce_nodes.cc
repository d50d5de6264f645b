#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tests/backends/cuda/named_node.h"
#include "tests/backends/cuda/special_values.h"

// Nodes of reduce_sum.cu, reduce_extreme.cu, reduce_log.cu and arg_reduce.cu.
namespace tensord::cuda {
namespace {

constexpr OpKind kSums[] = {OpKind::kReduceL1,        OpKind::kReduceL2,
                            OpKind::kReduceLogSum,    OpKind::kReduceMean,
                            OpKind::kReduceLogSumExp, OpKind::kReduceProd,
                            OpKind::kReduceSum,       OpKind::kReduceSumSquare};

std::vector<DType> WideDTypes() {
  std::vector<DType> dtypes = DTypesOf(kFloatDTypes);
  for (const DType dtype :
       {DType::kInt32, DType::kInt64, DType::kUInt32, DType::kUInt64}) {
    dtypes.push_back(dtype);
  }
  return dtypes;
}

// The axes are not negative.
NamedNode Reduce(OpKind op, TestTensor x, std::vector<int64_t> axes,
                 ReduceParams params = {}) {
  const DType dtype = x.dtype;
  const bool reduces_all = axes.empty() && !params.noop_with_empty_axes;
  Dims extents;
  int64_t depth = 1;
  for (int d = 0; d < x.shape.rank(); ++d) {
    const bool is_reduced =
        reduces_all || absl::c_linear_search(axes, int64_t{d});
    if (is_reduced) depth *= x.shape[d];
    if (!is_reduced) {
      extents.push_back(x.shape[d]);
    } else if (params.keep_dims) {
      extents.push_back(1);
    }
  }
  std::string name = absl::StrCat(absl::AsciiStrToLower(OpKindName(op)), "_",
                                  DTypeName(dtype), NameOf({x.shape}), "_over");
  for (const int64_t axis : axes) absl::StrAppend(&name, "_", axis);
  if (!params.keep_dims) absl::StrAppend(&name, "_dropped");
  if (params.noop_with_empty_axes) absl::StrAppend(&name, "_noop");
  TestNode node{.op = op,
                .inputs = {std::move(x)},
                .outputs = {{dtype, *Shape::Create(extents)}},
                .params = params,
                .is_constant = {false, true}};
  if (!axes.empty()) {
    node.inputs.push_back(
        Tensor<int64_t>({static_cast<int64_t>(axes.size())}, axes));
  }
  Tolerance tolerance = ToleranceFor(dtype, OpFamily::kReduction, depth);
  tolerance.absolute *= 4;  // the squares of elements up to 2
  return {name, std::move(node), tolerance};
}

// Close to 1, so that products stay in range.
TestTensor NearOne(DType dtype, Shape shape) {
  std::vector<double> values;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(IsFloatDType(dtype) ? 1 + (i * 7 % 9 - 4) / 64.0
                                         : 1 + i % 3);
  }
  return TensorOf(dtype, std::move(shape), values);
}

TestTensor InputOf(OpKind op, DType dtype, Shape shape) {
  const bool is_positive =
      op == OpKind::kReduceProd || op == OpKind::kReduceLogSum;
  return is_positive ? NearOne(dtype, std::move(shape))
                     : Pattern(dtype, std::move(shape));
}

void AddSums(std::vector<NamedNode>& nodes) {
  const DType f32 = DType::kFloat32;
  for (const OpKind op : kSums) {
    for (const DType dtype : WideDTypes()) {
      nodes.push_back(Reduce(op, InputOf(op, dtype, {3, 40, 8}), {1, 2}));
      nodes.push_back(Reduce(op, InputOf(op, dtype, {3, 7, 5}), {1}));
      nodes.push_back(Reduce(op, InputOf(op, dtype, {2, 0, 5}), {1}));
    }
    nodes.push_back(Reduce(op, InputOf(op, f32, {3, 4}), {}));
    nodes.push_back(Reduce(op, InputOf(op, f32, {}), {}));
    nodes.push_back(Reduce(op, InputOf(op, f32, {3, 4}), {},
                           {.noop_with_empty_axes = true}));
    nodes.push_back(Reduce(op, InputOf(op, f32, {3, 1, 4}), {1}));
    nodes.push_back(Reduce(op, SpecialValues(f32, {40, 9}), {1}));
  }
  nodes.push_back(Reduce(OpKind::kReduceLogSumExp,
                         TensorOf(f32, {3, 2}, {1e4, 1e4, -1e4, -1e4, 0, 100}),
                         {1}));
}

// The ways in which a reduction is spread over threads and blocks.
void AddShapes(std::vector<NamedNode>& nodes) {
  const OpKind op = OpKind::kReduceSum;
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kInt64}) {
    const auto x = [&](Shape shape) { return Pattern(dtype, shape); };
    nodes.push_back(Reduce(op, x({70000}), {0}));     // split among blocks
    nodes.push_back(Reduce(op, x({3, 9001}), {1}));   // no runs
    nodes.push_back(Reduce(op, x({5000, 12}), {0}));  // beside each other
    nodes.push_back(Reduce(op, x({700, 6}), {1}));    // short rows
    nodes.push_back(Reduce(op, x({3, 4, 5, 6, 8}), {1, 3}));
    nodes.push_back(Reduce(op, x({3, 4, 5, 6, 8}), {0, 2, 4}));
    nodes.push_back(Reduce(op, x({3, 8, 1}), {1}, {.keep_dims = false}));
    nodes.push_back(Reduce(op, x({0, 3}), {1}));
  }
  NamedNode negative = Reduce(op, Pattern(DType::kFloat32, {3, 4, 5}), {2});
  negative.name += "_counted_from_the_end";
  negative.node.inputs[1] = Tensor<int64_t>({1}, {-1});
  nodes.push_back(negative);
}

void AddExtremes(std::vector<NamedNode>& nodes) {
  std::vector<DType> dtypes = WideDTypes();
  for (const DType dtype : {DType::kInt8, DType::kUInt8, DType::kBool}) {
    dtypes.push_back(dtype);
  }
  for (const OpKind op : {OpKind::kReduceMax, OpKind::kReduceMin}) {
    for (const DType dtype : dtypes) {
      nodes.push_back(Reduce(op, Pattern(dtype, {3, 40, 8}), {1, 2}));
      nodes.push_back(Reduce(op, SpecialValues(dtype, {23, 4}), {1}));
      nodes.push_back(Reduce(op, Pattern(dtype, {3, 7, 5}), {1}));
      nodes.push_back(Reduce(op, Pattern(dtype, {2, 0, 5}), {1}));
    }
  }
}

void AddArgReductions(std::vector<NamedNode>& nodes) {
  const auto add = [&](OpKind op, TestTensor x, ArgReduceParams params) {
    Dims extents;
    for (int d = 0; d < x.shape.rank(); ++d) {
      extents.push_back(d == params.axis ? 1 : x.shape[d]);
    }
    const std::string name =
        absl::StrCat(absl::AsciiStrToLower(OpKindName(op)), "_",
                     DTypeName(x.dtype), NameOf({x.shape}), "_over_",
                     params.axis, params.selects_last ? "_last" : "_first");
    nodes.push_back({name,
                     {.op = op,
                      .inputs = {std::move(x)},
                      .outputs = {{DType::kInt64, *Shape::Create(extents)}},
                      .params = params}});
  };
  for (const OpKind op : {OpKind::kArgMax, OpKind::kArgMin}) {
    for (const bool selects_last : {false, true}) {
      for (const DType dtype :
           DTypesOf(kFloatDTypes, kSignedIntegers, kUnsignedIntegers)) {
        add(op, Pattern(dtype, {3, 41, 5}),
            {.axis = 1, .selects_last = selects_last});
        add(op, SpecialValues(dtype, {7, 33}),
            {.axis = 1, .selects_last = selects_last});
      }
      add(op, Pattern(DType::kInt8, {20000}),
          {.axis = 0, .selects_last = selects_last});
      add(op, Pattern(DType::kFloat32, {33, 1, 2}),
          {.axis = 1, .selects_last = selects_last});
    }
  }
}

}  // namespace

std::vector<NamedNode> ReduceNodes() {
  std::vector<NamedNode> nodes;
  AddSums(nodes);
  AddShapes(nodes);
  AddExtremes(nodes);
  AddArgReductions(nodes);
  return nodes;
}

}  // namespace tensord::cuda
