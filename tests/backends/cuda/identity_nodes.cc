#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/backends/cuda/named_node.h"
#include "tests/support/backend_test.h"

// Nodes of identity.cu: copies of every width, from any strides.
namespace tensord::cuda {
namespace {

NamedNode Contiguous(DType dtype, const Shape& shape) {
  return {absl::StrCat("contiguous_", std::string(DTypeName(dtype)), "_",
                       shape.element_count()),
          {.op = OpKind::kIdentity,
           .inputs = {Pattern(dtype, shape)},
           .outputs = {{dtype, shape}}}};
}

NamedNode Strided(const std::string& name, DType dtype, const Shape& dense,
                  Layout view) {
  const Shape shape = view.shape;
  return {absl::StrCat(name, "_", std::string(DTypeName(dtype))),
          {.op = OpKind::kIdentity,
           .inputs = {Pattern(dtype, dense)},
           .outputs = {{dtype, shape}},
           .input_layouts = {std::move(view)}}};
}

}  // namespace

std::vector<NamedNode> IdentityNodes() {
  std::vector<NamedNode> nodes;
  for (const DType dtype :
       {DType::kBool, DType::kInt8, DType::kUInt8, DType::kInt16,
        DType::kUInt16, DType::kFloat16, DType::kBFloat16, DType::kInt32,
        DType::kUInt32, DType::kFloat32, DType::kInt64, DType::kUInt64,
        DType::kFloat64}) {
    nodes.push_back(Contiguous(dtype, Shape({7, 5, 3})));
  }
  // Two elements to a byte.
  const TestTensor small = {DType::kInt4, Shape({5, 3}),
                            PatternBytes(ByteSize(DType::kInt4, 15))};
  nodes.push_back({"contiguous_int4",
                   {.op = OpKind::kIdentity,
                    .inputs = {small},
                    .outputs = {{small.dtype, small.shape}}}});
  for (const int64_t count : {0, 1, 15, 16, 17, 70000}) {
    nodes.push_back(Contiguous(DType::kUInt8, Shape({count, 1})));
  }
  const Shape dense({6, 5, 4});
  for (const DType dtype :
       {DType::kInt8, DType::kFloat16, DType::kFloat32, DType::kFloat64}) {
    nodes.push_back(
        Strided("transposed", dtype, dense, {Shape({4, 6, 5}), {1, 20, 4}, 0}));
    nodes.push_back(Strided("every_second", dtype, dense,
                            {Shape({3, 5, 2}), {40, 4, 2}, 1}));
    nodes.push_back(
        Strided("broadcast", dtype, dense, {Shape({3, 5, 4}), {0, 4, 1}, 20}));
    nodes.push_back(
        Strided("dense_part", dtype, dense, {Shape({2, 20}), {20, 1}, 20}));
  }
  return nodes;
}

}  // namespace tensord::cuda
