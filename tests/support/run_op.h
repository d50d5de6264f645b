#ifndef TENSORD_TESTS_SUPPORT_RUN_OP_H_
#define TENSORD_TESTS_SUPPORT_RUN_OP_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/api/backend.h"
#include "backends/api/expression.h"
#include "engine/graph/attributes.h"
#include "engine/graph/graph.h"
#include "tests/support/tensor.h"

namespace tensord {

// One operator of a test, as a client writes it.
struct OpCase {
  std::string op;  // "Conv"
  // A TestTensor() is an absent optional input.
  std::vector<TestTensor> inputs;
  std::vector<std::pair<std::string, Attribute>> attributes = {};
  int64_t opset = 17;
  // Indices of inputs that are known before the run, such as Reshape's shape.
  std::vector<int> constants = {};
  int output_count = 1;
  // Indices of outputs below output_count that nobody asked for.
  std::vector<int> absent_outputs = {};
  // Steps that a pass fused to the node, and their inputs behind its own.
  std::optional<Expression> epilogue = {};
  std::vector<TestTensor> epilogue_inputs = {};
  Precision precision = Precision::kStrict;
};

// Where a case runs. Borrows everything.
struct TestDevice {
  const Backend* backend;
  Device* device;
  Lane* lane;
  WorkerPool* workers;
};

// cpu:0 with two threads; lives until the process ends.
const TestDevice& CpuTestDevice();

// The outputs' types for inputs of these types: reads the attributes, infers.
// Its errors are the operator's own; kNotFound for an operator without an
// OpDef.
struct TypedCase {
  std::string op;
  std::vector<TensorType> inputs;
  std::vector<std::pair<std::string, Attribute>> attributes = {};
  int64_t opset = 17;
  // By input; absent where not known. May be shorter than the inputs.
  std::vector<HostTensor> constants = {};
  int output_count = 1;
};
struct InferredCase {
  OpParams params;
  std::vector<TensorType> outputs;
  std::vector<HostTensor> output_constants;
};
absl::StatusOr<InferredCase> InferOp(const TypedCase& test,
                                     SymbolTable& symbols);

// Runs the case as the engine would: read, infer, the first kernel that
// accepts, prepare, run. A view's output is its input's bytes. Data-dependent
// outputs have their real extents.
absl::StatusOr<std::vector<TestTensor>> RunOp(
    const OpCase& test, const TestDevice& device = CpuTestDevice());

// The same on every kernel that accepts the case, so that no sibling goes
// untested behind a faster one.
struct KernelOutputs {
  std::string kernel;
  std::vector<TestTensor> outputs;
};
absl::StatusOr<std::vector<KernelOutputs>> RunOpOnEveryKernel(
    const OpCase& test, const TestDevice& device = CpuTestDevice());

// Output 0 of RunOp(); its error fails the test and gives an absent tensor.
TestTensor MustRunOp(const OpCase& test,
                     const TestDevice& device = CpuTestDevice());

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_RUN_OP_H_
