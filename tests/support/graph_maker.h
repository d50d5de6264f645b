#ifndef TENSORD_TESTS_SUPPORT_GRAPH_MAKER_H_
#define TENSORD_TESTS_SUPPORT_GRAPH_MAKER_H_

#include <string>
#include <utility>
#include <vector>

#include "engine/graph/graph_def.h"
#include "engine/graph/host_tensor.h"

namespace tensord {

// Writes a graph definition as a client would:
//
//   GraphMaker().Input("x", {"batch", 3}).Node("Relu", {"x"}, {"y"})
//       .Output("y").Def()
//
// Threading: one thread. Ownership: owns what it makes.
class GraphMaker {
 public:
  using Attrs = std::vector<std::pair<std::string, Attribute>>;

  // An extent of a test: 3, or "batch".
  struct Extent {
    Extent(int extent) : def(int64_t{extent}) {}          // NOLINT
    Extent(int64_t extent) : def(extent) {}               // NOLINT
    Extent(const char* name) : def(std::string(name)) {}  // NOLINT
    DimDef def;
  };

  GraphMaker() { def_.opset = 17; }

  GraphMaker& Opset(int64_t opset) {
    def_.opset = opset;
    return *this;
  }
  GraphMaker& Input(const std::string& name, const std::vector<Extent>& dims,
                    DType dtype = DType::kFloat32) {
    def_.inputs.push_back(Value(name, dims, dtype));
    return *this;
  }
  GraphMaker& InputOfUnknownRank(const std::string& name) {
    def_.inputs.push_back(ValueDef{.name = name, .dtype = DType::kFloat32});
    return *this;
  }
  GraphMaker& Initializer(const std::string& name, HostTensor tensor) {
    def_.initializers.push_back({name, std::move(tensor)});
    return *this;
  }
  GraphMaker& Node(const std::string& op,
                   const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, Attrs attrs = {},
                   const std::string& name = "") {
    NodeDef node;
    node.name = name;
    node.op_type = op;
    node.inputs = inputs;
    node.outputs = outputs;
    for (auto& [key, value] : attrs) {
      node.attributes.Add(key, std::move(value));
    }
    def_.nodes.push_back(std::move(node));
    return *this;
  }
  GraphMaker& Output(const std::string& name) {
    def_.outputs.push_back(ValueDef{.name = name});
    return *this;
  }
  GraphMaker& OutputAs(const std::string& name, const std::vector<Extent>& dims,
                       DType dtype = DType::kFloat32) {
    def_.outputs.push_back(Value(name, dims, dtype));
    return *this;
  }

  GraphDef Def() { return std::move(def_); }

 private:
  static ValueDef Value(const std::string& name,
                        const std::vector<Extent>& dims, DType dtype) {
    ValueDef value{.name = name, .dtype = dtype};
    value.dims.emplace();
    for (const Extent& extent : dims) value.dims->push_back(extent.def);
    return value;
  }

  GraphDef def_;
};

// A constant of float32 whose elements count up from `first`.
HostTensor FloatTensor(Shape shape, float first = 0);

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_GRAPH_MAKER_H_
