#include "tests/engine/engine_harness.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/matchers.h"

namespace tensord {

EngineHarness::EngineHarness(std::vector<Backend*> backends,
                             std::vector<DeviceId> devices,
                             EngineOptions options) {
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      Engine::Create(options, backends, devices, profile_, &phases_,
                     HostServices{.workers = &workers_});
  if (!engine.ok()) {
    ADD_FAILURE() << engine.status();
    std::abort();
  }
  engine_ = *std::move(engine);
}

absl::StatusOr<Engine::SubmitOutcome> EngineHarness::Submit(
    const GraphId& id, GraphDef definition, const std::string& principal,
    std::vector<std::vector<Shape>> compile_for) {
  absl::Notification done;
  absl::StatusOr<Engine::SubmitOutcome> result;
  Engine::Submission submission;
  submission.id = id;
  submission.principal = principal;
  submission.decode = [definition = std::move(definition)] {
    return definition;
  };
  submission.compile_for = std::move(compile_for);
  engine_->SubmitGraph(std::move(submission),
                       [&](absl::StatusOr<Engine::SubmitOutcome> outcome) {
                         result = std::move(outcome);
                         done.Notify();
                       });
  done.WaitForNotification();
  return result;
}

std::shared_ptr<const LoadedGraph> EngineHarness::MustSubmit(
    const GraphId& id, GraphDef definition) {
  absl::StatusOr<Engine::SubmitOutcome> outcome =
      Submit(id, std::move(definition));
  if (!outcome.ok()) {
    ADD_FAILURE() << outcome.status();
    std::abort();
  }
  return outcome->graph;
}

DeviceStatus EngineHarness::StatusOf(DeviceId device) {
  for (DeviceStatus& status : engine_->Devices()) {
    if (status.info.id == device) return status;
  }
  ADD_FAILURE() << "no device " << device.ToString();
  return {};
}

GraphDef AddChain(int node_count, float weight, int64_t extent) {
  const DimDef dim = extent > 0 ? DimDef(extent) : DimDef(std::string("n"));
  GraphDef graph;
  graph.opset = 17;
  graph.inputs = {{"x", DType::kFloat32, std::vector<DimDef>{dim}}};
  std::string last = "x";
  for (int i = 0; i < node_count; ++i) {
    const std::string w = absl::StrCat("w", i);
    const std::string y = absl::StrCat("y", i);
    graph.initializers.push_back(
        {w, HostTensor::Make(
                DType::kFloat32, Shape{1}, [&](absl::Span<std::byte> bytes) {
                  std::memcpy(bytes.data(), &weight, sizeof(weight));
                })});
    NodeDef node;
    node.name = absl::StrCat("add", i);
    node.op_type = "Add";
    node.inputs = {last, w};
    node.outputs = {y};
    graph.nodes.push_back(std::move(node));
    last = y;
  }
  graph.outputs = {{last, DType::kFloat32, std::vector<DimDef>{dim}}};
  return graph;
}

HostValue FloatInput(Engine& engine, const std::vector<float>& x) {
  HostValue input;
  input.dtype = DType::kFloat32;
  input.shape = *Shape::Create({static_cast<int64_t>(x.size())});
  input.bytes = *engine.buffers().Allocate(x.size() * sizeof(float));
  if (!x.empty()) {
    std::memcpy(input.bytes.data(), x.data(), x.size() * sizeof(float));
  }
  return input;
}

TestRun::TestRun(std::shared_ptr<const LoadedGraph> graph, Engine& engine,
                 const std::vector<float>& x)
    : engine_(engine) {
  execution_.graph = std::move(graph);
  execution_.inputs.push_back(FloatInput(engine, x));
  execution_.on_done = &TestRun::Answered;
  execution_.user = this;
}

TestRun::~TestRun() {
  if (!is_started_) return;
  done_.WaitForNotification();
  EXPECT_EQ(answers_, 1);
}

void TestRun::Start() {
  is_started_ = true;
  engine_.Start(execution_);
}

const absl::Status& TestRun::Wait() {
  done_.WaitForNotification();
  return execution_.status;
}

std::vector<float> TestRun::Output() {
  const absl::Status& status = Wait();
  if (!status.ok()) {
    ADD_FAILURE() << status;
    return {};
  }
  const HostValue& output = execution_.outputs.front();
  std::vector<float> values(output.shape.element_count());
  if (!values.empty()) {
    std::memcpy(values.data(), output.bytes.data(),
                values.size() * sizeof(float));
  }
  return values;
}

void TestRun::Answered(Execution& execution) {
  auto* run = static_cast<TestRun*>(execution.user);
  if (run->hook_) run->hook_(*run);
  if (run->releases_buffers_) {
    execution.inputs.clear();
    execution.outputs.clear();
  }
  if (run->answers_.fetch_add(1) == 0) run->done_.Notify();
}

}  // namespace tensord
