#include "tests/fuzz/check_graph.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/graph/escape.h"
#include "engine/graph/graph_builder.h"
#include "engine/infer/infer.h"
#include "engine/passes/device_evaluator.h"
#include "engine/passes/fold_constants.h"
#include "engine/passes/remove_dead_nodes.h"

namespace tensord {
namespace {

void Require(bool claim, const std::string& text) {
  if (claim) return;
  std::fprintf(stderr, "broken promise: %s\n", text.c_str());
  std::abort();
}

absl::Status Checked(absl::Status status) {
  const std::string message(status.message());
  Require(status.ok() || !message.empty(), "an error has a message");
  Require(message.size() <= 16'384, "a message is short: " + message);
  Require(CheckPrintable("message", {message.data(), message.size()}).ok(),
          "a message can be printed: " + Escape(message));
  Require(status.code() != absl::StatusCode::kInternal,
          "no input is the engine's fault: " + message);
  return status;
}

void CheckInvariants(const Graph& graph) {
  const auto value_count = static_cast<ValueId>(graph.values.size());
  std::vector<bool> is_defined(graph.values.size(), false);
  for (ValueId id = 0; id < value_count; ++id) {
    const Value& value = graph.values[id];
    is_defined[id] = value.is_input || value.constant.is_present();
    Require(!is_defined[id] || value.producer == kNoNode,
            "inputs and constants have no producer");
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (ValueId id : graph.nodes[i].inputs) {
      if (id == kNoValue) continue;
      Require(id >= 0 && id < value_count, "inputs are in range");
      Require(is_defined[id], "producers come first");
    }
    for (ValueId id : graph.nodes[i].outputs) {
      if (id == kNoValue) continue;
      Require(id >= 0 && id < value_count, "outputs are in range");
      Require(!is_defined[id], "a value has one producer");
      Require(graph.values[id].producer == static_cast<NodeId>(i),
              "a value knows its producer");
      is_defined[id] = true;
    }
  }
  for (ValueId id : graph.outputs) Require(is_defined[id], "outputs are made");
}

// One for the process; never destroyed, and reachable to the end.
struct EvaluatorHost {
  HostWorkerPool workers{1};
  std::unique_ptr<Backend> backend =
      MakeCpuBackend(HostServices{.workers = &workers});
  std::unique_ptr<Device> device = backend->OpenDevice(0).value();
  std::unique_ptr<DeviceEvaluator> evaluator =
      DeviceEvaluator::Create(*device, backend->kernels(), &workers).value();
};

DeviceEvaluator& Evaluator() {
  static EvaluatorHost* const host = new EvaluatorHost;
  return *host->evaluator;
}

// The declared shapes with 2 for every symbol.
std::vector<Shape> ShapesOfTwos(const Graph& graph) {
  std::vector<Shape> shapes;
  for (ValueId id : graph.inputs) {
    Dims extents;
    if (graph.value(id).type.shape.has_value()) {
      for (Dim dim : *graph.value(id).type.shape) {
        extents.push_back(dim.is_known() ? dim.extent() : 2);
      }
    }
    absl::StatusOr<Shape> shape = Shape::Create(extents);
    shapes.push_back(shape.ok() ? *std::move(shape) : Shape());
  }
  return shapes;
}

}  // namespace

GraphLimits FuzzLimits() {
  GraphLimits limits;
  limits.max_nodes = 200;
  limits.max_nesting_depth = 4;
  limits.max_function_depth = 8;
  limits.max_values = 1'000;
  limits.max_operands = 2'000;
  limits.max_elements = 1 << 16;
  limits.max_constant_bytes = 1 << 20;
  limits.max_folded_bytes = 1 << 16;
  return limits;
}

absl::Status CheckGraph(absl::StatusOr<GraphDef> definition) {
  const GraphLimits limits = FuzzLimits();
  if (!definition.ok()) return Checked(definition.status());
  absl::StatusOr<Graph> graph = BuildGraph(*std::move(definition), limits);
  if (!graph.ok()) return Checked(graph.status());
  CheckInvariants(*graph);

  absl::StatusOr<Inference> inference =
      InferGraph(*graph, limits, &Evaluator());
  if (!inference.ok()) return Checked(inference.status());
  CheckInvariants(
      RemoveDeadNodes(FoldConstants(*graph, *inference, Evaluator(), limits)));

  inference = InferGraph(*graph, ShapesOfTwos(*graph), KnownExtents(), limits,
                         &Evaluator());
  if (!inference.ok()) return Checked(inference.status());
  CheckInvariants(
      RemoveDeadNodes(FoldConstants(*graph, *inference, Evaluator(), limits)));
  return absl::OkStatus();
}

}  // namespace tensord
