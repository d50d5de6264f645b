#ifndef TENSORD_TESTS_SUPPORT_GRAPHS_H_
#define TENSORD_TESTS_SUPPORT_GRAPHS_H_

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/graph_def.h"
#include "tests/support/tensor.h"

namespace tensord {

// Graphs of tests in few words:
//
//   GraphDef definition = TestGraph()
//       .Input("x", DType::kFloat32, {"N", 4})
//       .Constant("w", Tensor({4}, {1, 2, 3, 4}))
//       .Node("Add", {"x", "w"}, {"y"})
//       .Output("y").definition();
//
// Threading and ownership: a plain value.
class TestGraph {
 public:
  struct Extent {
    Extent(int64_t extent) : dim(extent) {}       // NOLINT: meant to convert
    Extent(int extent) : dim(int64_t{extent}) {}  // NOLINT
    Extent(const char* name) : dim(std::string(name)) {}  // NOLINT
    DimDef dim;
  };

  TestGraph() { definition_.opset = 17; }

  TestGraph& Input(std::string name, DType dtype, std::vector<Extent> extents) {
    ValueDef& value = definition_.inputs.emplace_back();
    value.name = std::move(name);
    value.dtype = dtype;
    value.dims.emplace();
    for (Extent& extent : extents) value.dims->push_back(std::move(extent.dim));
    return *this;
  }

  TestGraph& Constant(std::string name, const TestTensor& tensor) {
    definition_.initializers.push_back(
        {std::move(name),
         HostTensor::Make(
             tensor.dtype, tensor.shape, [&](absl::Span<std::byte> bytes) {
               if (bytes.empty()) return;
               std::memcpy(bytes.data(), tensor.bytes.data(), bytes.size());
             })});
    return *this;
  }

  TestGraph& Node(
      std::string op, std::vector<std::string> inputs,
      std::vector<std::string> outputs,
      std::vector<std::pair<std::string, Attribute>> attributes = {},
      std::string name = "") {
    NodeDef& node = definition_.nodes.emplace_back();
    node.name = std::move(name);
    node.op_type = std::move(op);
    node.inputs = std::move(inputs);
    node.outputs = std::move(outputs);
    for (auto& [key, value] : attributes) {
      node.attributes.Add(key, std::move(value));
    }
    return *this;
  }

  // An input of a body, whose type is that of what it is called with.
  TestGraph& Formal(std::string name) {
    definition_.inputs.push_back({.name = std::move(name)});
    return *this;
  }

  TestGraph& Opset(int64_t opset) {
    definition_.opset = opset;
    return *this;
  }

  TestGraph& Output(std::string name) {
    definition_.outputs.push_back({.name = std::move(name)});
    return *this;
  }

  GraphDef definition() const { return definition_; }
  // For an attribute that holds a graph.
  Attribute body() const {
    return std::make_shared<const GraphDef>(definition_);
  }

 private:
  GraphDef definition_;
};

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_GRAPHS_H_
