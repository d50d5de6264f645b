#include "tests/support/run_op.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_table.h"
#include "engine/ops/required_inputs.h"
#include "tests/support/kernel_runner.h"

namespace tensord {
namespace {

absl::StatusOr<const OpDef*> Find(const std::string& op) {
  const std::optional<OpKind> kind = OpKindFromName(op);
  const OpDef* def = kind.has_value() ? FindOpDef(*kind) : nullptr;
  if (def == nullptr) {
    return absl::NotFoundError(absl::StrCat("no OpDef for ", op));
  }
  return def;
}

// Outputs are counted as the graph builder does, before `read` sees the node.
absl::Status CheckCounts(const OpDef& def, int inputs, int outputs) {
  if (inputs >= def.min_inputs && inputs <= def.max_inputs &&
      outputs >= def.min_outputs && outputs <= def.max_outputs) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(inputs, " inputs and ", outputs, " outputs"));
}

HostTensor ToHost(const TestTensor& tensor) {
  return HostTensor::Copy(tensor.dtype, tensor.shape, tensor.bytes).value();
}

TestTensor FromHost(const HostTensor& tensor) {
  return {tensor.dtype(),
          tensor.shape(),
          {tensor.bytes().begin(), tensor.bytes().end()}};
}

// A node that is read and inferred, with the constants that reading added.
struct ReadNode {
  const OpDef* def;
  OpParams params;
  std::vector<TensorType> inputs;
  std::vector<HostTensor> constants;
  std::vector<TensorType> outputs;
  std::vector<HostTensor> output_constants;
};

absl::StatusOr<ReadNode> ReadAndInfer(const TypedCase& test,
                                      SymbolTable& symbols) {
  absl::StatusOr<const OpDef*> def = Find(test.op);
  if (!def.ok()) return def.status();
  ReadNode node{.def = *def,
                .params = NoParams{},
                .inputs = test.inputs,
                .constants = test.constants,
                .outputs = {},
                .output_constants = {}};
  node.constants.resize(node.inputs.size());
  const int input_count = static_cast<int>(node.inputs.size());
  if (absl::Status s = CheckCounts(**def, input_count, test.output_count);
      !s.ok()) {
    return s;
  }
  Attributes attributes;
  for (const auto& [name, value] : test.attributes) {
    attributes.Add(name, value);
  }
  NodeReader reader(attributes, test.opset, input_count, test.output_count);
  if (node.def->read != nullptr) {
    absl::StatusOr<OpParams> params = node.def->read(reader);
    if (!params.ok()) return params.status();
    node.params = *std::move(params);
  }
  if (!reader.UnreadAttributes().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown attribute ", reader.UnreadAttributes()[0]));
  }
  for (const auto& [index, tensor] : reader.constant_inputs()) {
    const size_t count = std::max<size_t>(node.inputs.size(), index + 1);
    node.inputs.resize(count);
    node.constants.resize(count);
    node.inputs[index] = {tensor.dtype(), ToSymbolic(tensor.shape())};
    node.constants[index] = tensor;
  }
  if (absl::Status s = CheckRequiredInputs(
          **def, static_cast<int>(node.inputs.size()),
          [&](int i) { return node.inputs[i].dtype != DType::kUndefined; });
      !s.ok()) {
    return s;
  }
  std::vector<const TensorType*> types;
  std::vector<const HostTensor*> constants;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const bool is_present = node.inputs[i].dtype != DType::kUndefined;
    types.push_back(is_present ? &node.inputs[i] : nullptr);
    constants.push_back(node.constants[i].is_present() ? &node.constants[i]
                                                       : nullptr);
  }
  InferContext context(node.params, types, constants, test.output_count,
                       symbols);
  if (absl::Status s = node.def->infer(context); !s.ok()) return s;
  node.outputs.assign(context.outputs().begin(), context.outputs().end());
  node.output_constants.assign(context.output_constants().begin(),
                               context.output_constants().end());
  return node;
}

// The node for the kernel runner. `bounds` gets the outputs' dims, symbols and
// all.
absl::StatusOr<TestNode> ToTestNode(const OpCase& test, const ReadNode& node,
                                    const SymbolTable& symbols) {
  TestNode result{
      .op = node.def->op, .inputs = test.inputs, .params = node.params};
  result.precision = test.precision;
  result.inputs.resize(node.inputs.size());
  result.is_constant.resize(node.inputs.size());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.constants[i].is_present()) continue;
    result.is_constant[i] = true;
    result.inputs[i] = FromHost(node.constants[i]);
  }
  int extent_count = 0;
  bool has_unknown = false;
  for (const TensorType& type : node.outputs) {
    if (!type.shape.has_value()) {
      return absl::InternalError("an output's rank is not known");
    }
    Dims extents;
    for (Dim dim : *type.shape) {
      ++extent_count;
      if (!dim.is_known()) has_unknown = true;
      extents.push_back(dim.is_known() ? dim.extent()
                                       : symbols.upper_bound(dim.symbol()));
    }
    absl::StatusOr<Shape> shape = Shape::Create(extents);
    if (!shape.ok()) return shape.status();
    result.outputs.push_back({type.dtype, *shape});
  }
  if (has_unknown) result.extent_cell_count = extent_count;
  for (int i : test.absent_outputs) {
    result.outputs[i] = {DType::kUndefined, Shape()};
  }
  return result;
}

// As a pass leaves it: the operator's absent inputs are there, then the
// expression's.
void AddEpilogue(const OpCase& test, const OpDef& def, TestNode& node) {
  node.inputs.resize(def.max_inputs);
  node.is_constant.resize(def.max_inputs);
  node.inputs.insert(node.inputs.end(), test.epilogue_inputs.begin(),
                     test.epilogue_inputs.end());
  node.is_constant.resize(node.inputs.size());
  node.params.epilogue = std::make_shared<const Epilogue>(
      Epilogue{def.max_inputs, *test.epilogue});
}

// Outputs with the extents that the run told, their bytes cut to fit.
std::vector<TestTensor> Trim(KernelResult result, const ReadNode& node) {
  auto cell = result.extents.begin();
  for (size_t i = 0; cell != result.extents.end() && i < node.outputs.size();
       ++i) {
    TestTensor& output = result.outputs[i];
    const size_t rank = node.outputs[i].shape->size();
    const Dims extents(cell, cell + rank);
    cell += rank;
    output.shape = Shape::Create(extents).value();
    output.bytes.resize(ByteSize(output.dtype, output.shape.element_count()));
  }
  return std::move(result.outputs);
}

absl::StatusOr<std::vector<KernelOutputs>> Run(const OpCase& test,
                                               const TestDevice& device,
                                               bool only_first) {
  TypedCase typed{.op = test.op,
                  .inputs = {},
                  .attributes = test.attributes,
                  .opset = test.opset,
                  .constants = std::vector<HostTensor>(test.inputs.size()),
                  .output_count = test.output_count};
  for (const TestTensor& input : test.inputs) {
    typed.inputs.push_back({input.dtype, ToSymbolic(input.shape)});
  }
  for (int i : test.constants) typed.constants[i] = ToHost(test.inputs[i]);
  SymbolTable symbols;
  absl::StatusOr<ReadNode> node = ReadAndInfer(typed, symbols);
  if (!node.ok()) return node.status();

  if (node->def->is_view && test.output_count == 1) {
    TestTensor output = test.inputs[0];
    absl::StatusOr<Shape> shape = ToConcrete(*node->outputs[0].shape);
    if (!shape.ok()) return shape.status();
    output.shape = *shape;
    return std::vector<KernelOutputs>{{"view", {output}}};
  }
  absl::StatusOr<TestNode> test_node = ToTestNode(test, *node, symbols);
  if (!test_node.ok()) return test_node.status();
  if (test.epilogue.has_value()) AddEpilogue(test, *node->def, *test_node);
  std::vector<const KernelEntry*> kernels =
      KernelsFor(*device.backend, *test_node);
  if (kernels.empty()) return absl::UnimplementedError("no kernel accepts");
  if (only_first) kernels.resize(1);
  std::vector<KernelOutputs> all;
  for (const KernelEntry* kernel : kernels) {
    absl::StatusOr<KernelResult> result = RunKernel(
        *kernel, *test_node, *device.device, *device.lane, *device.workers);
    if (!result.ok()) return result.status();
    all.push_back({kernel->name, Trim(*std::move(result), *node)});
  }
  return all;
}

}  // namespace

const TestDevice& CpuTestDevice() {
  static const TestDevice* const device = [] {
    auto* workers = new HostWorkerPool(2);
    auto* backend = MakeCpuBackend(HostServices{.workers = workers}).release();
    Device* opened = backend->OpenDevice(0).value().release();
    Lane* lane = opened->CreateLane().value().release();
    return new TestDevice{backend, opened, lane, workers};
  }();
  return *device;
}

absl::StatusOr<InferredCase> InferOp(const TypedCase& test,
                                     SymbolTable& symbols) {
  absl::StatusOr<ReadNode> node = ReadAndInfer(test, symbols);
  if (!node.ok()) return node.status();
  return InferredCase{node->params, node->outputs, node->output_constants};
}

absl::StatusOr<std::vector<TestTensor>> RunOp(const OpCase& test,
                                              const TestDevice& device) {
  absl::StatusOr<std::vector<KernelOutputs>> all =
      Run(test, device, /*only_first=*/true);
  if (!all.ok()) return all.status();
  return std::move((*all)[0].outputs);
}

absl::StatusOr<std::vector<KernelOutputs>> RunOpOnEveryKernel(
    const OpCase& test, const TestDevice& device) {
  return Run(test, device, /*only_first=*/false);
}

TestTensor MustRunOp(const OpCase& test, const TestDevice& device) {
  absl::StatusOr<std::vector<TestTensor>> outputs = RunOp(test, device);
  if (!outputs.ok()) {
    ADD_FAILURE() << test.op << ": " << outputs.status();
    return {};
  }
  return (*outputs)[0];
}

}  // namespace tensord
