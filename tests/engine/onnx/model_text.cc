#include "tests/engine/onnx/model_text.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/graph/graph_builder.h"
#include "engine/infer/infer.h"
#include "engine/onnx/onnx_reader.h"
#include "engine/passes/device_evaluator.h"
#include "google/protobuf/text_format.h"
#include "tests/support/execution_rig.h"
#include "tests/support/run_op.h"

namespace tensord {

onnx::ModelProto ModelFromText(const std::string& text) {
  onnx::ModelProto model;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &model));
  if (!model.has_ir_version()) model.set_ir_version(10);
  if (model.opset_import_size() == 0) {
    model.add_opset_import()->set_version(17);
  }
  return model;
}

absl::StatusOr<GraphDef> ReadModel(const onnx::ModelProto& model,
                                   const GraphLimits& limits) {
  const std::string bytes = model.SerializeAsString();
  return ReadOnnx({bytes.data(), bytes.size()}, limits);
}

absl::StatusOr<GraphDef> ReadText(const std::string& text,
                                  const GraphLimits& limits) {
  return ReadModel(ModelFromText(text), limits);
}

std::string RefusalOf(const onnx::ModelProto& model,
                      const GraphLimits& limits) {
  absl::StatusOr<GraphDef> def = ReadModel(model, limits);
  if (!def.ok()) return std::string(def.status().message());
  return std::string(BuildGraph(*std::move(def), limits).status().message());
}

std::string RefusalOf(const std::string& text, const GraphLimits& limits) {
  return RefusalOf(ModelFromText(text), limits);
}

HostTensor ValueOf(const onnx::ModelProto& model) {
  const GraphLimits limits;
  absl::StatusOr<GraphDef> def = ReadModel(model, limits);
  EXPECT_TRUE(def.ok()) << def.status();
  if (!def.ok()) return HostTensor();
  absl::StatusOr<Graph> graph = BuildGraph(*std::move(def), limits);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return HostTensor();
  const TestDevice& cpu = CpuTestDevice();
  auto evaluator =
      DeviceEvaluator::Create(*cpu.device, cpu.backend->kernels(), cpu.workers);
  EXPECT_TRUE(evaluator.ok()) << evaluator.status();
  absl::StatusOr<Inference> inference =
      InferGraph(*graph, limits, evaluator->get());
  EXPECT_TRUE(inference.ok()) << inference.status();
  if (!inference.ok()) return HostTensor();
  HostTensor value = inference->constants[graph->outputs[0]];
  EXPECT_TRUE(value.is_present()) << "the output is not known before a run";
  return value;
}

HostTensor ValueOf(const std::string& text) {
  return ValueOf(ModelFromText(text));
}

absl::StatusOr<std::vector<TestTensor>> RunText(
    const std::string& text, const std::vector<TestTensor>& inputs) {
  absl::StatusOr<GraphDef> def = ReadText(text);
  if (!def.ok()) return def.status();
  absl::StatusOr<Graph> graph = BuildGraph(*std::move(def), GraphLimits());
  if (!graph.ok()) return graph.status();
  HostWorkerPool workers(2);
  const std::unique_ptr<Backend> backend =
      MakeCpuBackend({.workers = &workers}, {});
  ExecutionRig rig(*backend, &workers);
  std::vector<Shape> shapes;
  for (const TestTensor& input : inputs) shapes.push_back(input.shape);
  auto planned =
      rig.TryPlan(std::make_shared<Graph>(*std::move(graph)), shapes);
  if (!planned.ok()) return planned.status();
  return rig.Outputs(*planned, inputs);
}

std::string NodesOf(const GraphDef& def) {
  std::vector<std::string> nodes;
  for (const NodeDef& node : def.nodes) {
    nodes.push_back(absl::StrCat(node.op_type, "(",
                                 absl::StrJoin(node.inputs, ", "), ") -> ",
                                 absl::StrJoin(node.outputs, ", ")));
  }
  return absl::StrJoin(nodes, "; ");
}

}  // namespace tensord
