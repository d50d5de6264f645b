#include "tests/engine/hostile/hostile_harness.h"

#include <cstring>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "tests/support/graphs.h"
#include "tests/support/resource_gauge.h"

namespace tensord {
namespace {

EngineOptions SmallRuns() {
  EngineOptions options;
  options.max_peak_bytes = uint64_t{256} << 20;
  return options;
}

// One node; `is_input` says whether an operand comes with the run.
GraphDef OneNode(const HostileNode& node, bool is_input) {
  TestGraph graph;
  std::vector<std::string> names;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const TestTensor& operand = node.operands[i];
    names.push_back(operand.is_present() ? absl::StrCat("x", i) : "");
    if (!operand.is_present()) continue;
    if (!is_input) {
      graph.Constant(names.back(), operand);
      continue;
    }
    std::vector<TestGraph::Extent> extents;
    for (int64_t extent : operand.shape.extents()) extents.push_back(extent);
    graph.Input(names.back(), operand.dtype, std::move(extents));
  }
  std::vector<std::string> outputs;
  for (int i = 0; i < node.output_count; ++i) {
    outputs.push_back(absl::StrCat("y", i));
    graph.Output(outputs.back());
  }
  graph.Node(node.op, names, outputs, node.attributes, "hostile");
  GraphDef definition = graph.definition();
  definition.opset = node.opset;
  return definition;
}

}  // namespace

void PrintTo(const HostileNode& node, std::ostream* out) { *out << node.name; }

HostileTest::HostileTest()
    : harness_({backend_.get()}, {DeviceId{BackendId::kCpu, 0}}, SmallRuns()) {}

absl::Status HostileTest::Serve(GraphDef definition,
                                std::vector<TestTensor> inputs,
                                absl::Duration timeout) {
  const ResourceGauge gauge;
  absl::Status status = [&]() -> absl::Status {
    absl::StatusOr<Engine::SubmitOutcome> submitted = harness_.Submit(
        absl::StrCat("hostile", submission_count_++), std::move(definition));
    if (!submitted.ok()) return submitted.status();
    absl::Notification done;
    Execution execution;
    execution.graph = submitted->graph;
    execution.deadline = absl::Now() + timeout;
    execution.user = &done;
    execution.on_done = [](Execution& finished) {
      static_cast<absl::Notification*>(finished.user)->Notify();
    };
    for (const TestTensor& input : inputs) {
      HostValue& value = execution.inputs.emplace_back();
      value.dtype = input.dtype;
      value.shape = input.shape;
      value.bytes = *harness_.engine().buffers().Allocate(input.bytes.size());
      if (!input.bytes.empty()) {
        std::memcpy(value.bytes.data(), input.bytes.data(), input.bytes.size());
      }
    }
    harness_.engine().Start(execution);
    done.WaitForNotification();
    return execution.status;
  }();
  EXPECT_LT(gauge.CpuSeconds(), 2 * BuildSlowdown());
  EXPECT_LT(gauge.PeakBytes(), int64_t{1} << 30);
  return status;
}

absl::Status HostileTest::ServeConstants(const HostileNode& node) {
  return Serve(OneNode(node, /*is_input=*/false));
}

absl::Status HostileTest::ServeInputs(const HostileNode& node) {
  std::vector<TestTensor> inputs;
  for (const TestTensor& operand : node.operands) {
    if (operand.is_present()) inputs.push_back(operand);
  }
  return Serve(OneNode(node, /*is_input=*/true), std::move(inputs));
}

}  // namespace tensord
