#ifndef TENSORD_TESTS_ENGINE_BATCH_ROW_CASES_H_
#define TENSORD_TESTS_ENGINE_BATCH_ROW_CASES_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "backends/api/dtype.h"
#include "tests/support/graphs.h"
#include "tests/support/tensor.h"

namespace tensord {

// One request's part of an input: [rows, extents...] with rows as drawn.
struct RowInput {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> extents;  // behind the leading one
  int64_t limit = 0;  // integers are in [lowest, limit); 0: any pattern
  int64_t lowest = 0;
};

// A graph whose inputs all have the batch in front, and what may be in them.
// Threading and ownership: a plain value.
class RowCase {
 public:
  explicit RowCase(std::string name) : name_(std::move(name)) {}

  RowCase& In(const std::string& name, RowInput input);
  RowCase& Floats(const std::string& name, std::vector<int64_t> extents) {
    return In(name, {.extents = std::move(extents)});
  }
  RowCase& Constant(const std::string& name, const TestTensor& tensor) {
    graph_.Constant(name, tensor);
    return *this;
  }
  RowCase& Ints(const std::string& name, const std::vector<int64_t>& values) {
    const auto count = static_cast<int64_t>(values.size());
    graph_.Constant(name, Tensor<int64_t>({count}, values));
    return *this;
  }
  RowCase& Node(std::string op, std::vector<std::string> inputs,
                std::vector<std::string> outputs = {"y"},
                std::vector<std::pair<std::string, Attribute>> attributes = {});
  RowCase& Out(std::string name = "y") {
    graph_.Output(std::move(name));
    return *this;
  }
  RowCase& Opset(int64_t opset) {
    graph_.Opset(opset);
    return *this;
  }

  const std::string& name() const { return name_; }
  const TestGraph& graph() const { return graph_; }
  const std::vector<RowInput>& inputs() const { return inputs_; }
  const std::vector<std::string>& ops() const { return ops_; }

 private:
  std::string name_;
  TestGraph graph_;
  std::vector<RowInput> inputs_;
  std::vector<std::string> ops_;
};

// Graphs that are proven, over every operator that has a rule; extents differ
// from draw to draw.
std::vector<RowCase> ProvenCases(std::mt19937& draw);

// Graphs that mix requests, or may, and a part of the reason.
struct RefusedCase {
  RowCase graph;
  std::string reason;
};
std::vector<RefusedCase> RefusedCases();

// What one request sends as input `input`.
TestTensor RowsOf(const RowInput& input, int64_t rows, std::mt19937& draw);

}  // namespace tensord

#endif  // TENSORD_TESTS_ENGINE_BATCH_ROW_CASES_H_
