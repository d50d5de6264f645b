#ifndef TENSORD_TESTS_SUPPORT_EXECUTION_RIG_H_
#define TENSORD_TESTS_SUPPORT_EXECUTION_RIG_H_

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/compiled/graph_compiler.h"
#include "engine/exec/executor.h"
#include "engine/graph/graph_builder.h"
#include "engine/passes/device_evaluator.h"
#include "engine/passes/shared_evaluator.h"
#include "gtest/gtest.h"
#include "tests/support/graphs.h"
#include "tests/support/matchers.h"

namespace tensord {

// One device of a backend with one lane, and graphs planned, compiled and run
// on it: the engine without its queues and caches.
//
// Threading: one thread. Ownership: borrows the backend and the workers.
class ExecutionRig {
 public:
  // With `host_backend`, its device runs what `backend` has no kernels for.
  explicit ExecutionRig(Backend& backend, WorkerPool* workers = nullptr,
                        Backend* host_backend = nullptr)
      : device_(*backend.OpenDevice(0)), weights_(*device_) {
    EXPECT_THAT(table_.AddBackend(backend), IsOk());
    if (host_backend != nullptr) {
      EXPECT_THAT(table_.AddBackend(*host_backend), IsOk());
      host_device_ = *host_backend->OpenDevice(0);
      host_weights_ = std::make_unique<WeightStore>(*host_device_);
      host_ = {host_device_.get(), host_weights_.get()};
      environment_.host = &host_;
    }
    slot_ = *LaneSlot::Create(*device_, &profile_, workers);
    environment_.table = &table_;
    environment_.profile = &profile_;
    // Folding needs a device that the host can look into.
    auto evaluator =
        DeviceEvaluator::Create(*device_, backend.kernels(), workers);
    if (evaluator.ok()) {
      evaluator_ = std::make_unique<SharedEvaluator>(*std::move(evaluator));
      environment_.evaluator = evaluator_.get();
    }
  }

  absl::StatusOr<std::shared_ptr<CompiledGraph>> TryPlan(
      const TestGraph& graph, const std::vector<Shape>& shapes) {
    absl::StatusOr<Graph> built =
        BuildGraph(graph.definition(), environment_.limits);
    if (!built.ok()) return built.status();
    return TryPlan(std::make_shared<Graph>(*std::move(built)), shapes);
  }

  absl::StatusOr<std::shared_ptr<CompiledGraph>> TryPlan(
      std::shared_ptr<const Graph> graph, const std::vector<Shape>& shapes) {
    return PlanGraph(std::move(graph), shapes, options_, *device_, weights_,
                     slot_->lane(), environment_);
  }

  std::shared_ptr<CompiledGraph> Plan(const TestGraph& graph,
                                      const std::vector<Shape>& shapes) {
    auto planned = TryPlan(graph, shapes);
    EXPECT_THAT(planned, IsOk());
    return *std::move(planned);
  }

  std::shared_ptr<CompiledGraph> Compile(const TestGraph& graph,
                                         const std::vector<Shape>& shapes) {
    std::shared_ptr<CompiledGraph> compiled = Plan(graph, shapes);
    PreparationChannel channel(1);
    channel.Detach();
    EXPECT_THAT(PrepareNodes(*compiled, *device_, channel), IsOk());
    return compiled;
  }

  HostValue Value(const TestTensor& tensor) {
    HostValue value{tensor.dtype, tensor.shape,
                    *buffers_.Allocate(tensor.bytes.size())};
    if (!tensor.bytes.empty()) {
      std::memcpy(value.bytes.data(), tensor.bytes.data(), tensor.bytes.size());
    }
    return value;
  }

  absl::Status Run(Execution& execution,
                   const std::shared_ptr<const CompiledGraph>& graph,
                   PreparationChannel* preparation = nullptr) {
    execution.compiled = graph;
    return RunExecution(*slot_, *graph, execution, buffers_, preparation,
                        &lane_is_busy_);
  }

  // Compiles for the inputs' shapes, runs, and returns the outputs.
  absl::StatusOr<std::vector<TestTensor>> Outputs(
      const TestGraph& graph, const std::vector<TestTensor>& inputs,
      absl::Time deadline = absl::InfiniteFuture()) {
    std::vector<Shape> shapes;
    for (const TestTensor& input : inputs) shapes.push_back(input.shape);
    auto compiled = TryPlan(graph, shapes);
    if (!compiled.ok()) return compiled.status();
    return Outputs(*compiled, inputs, deadline);
  }

  // The outputs of a graph that is planned and not prepared yet.
  absl::StatusOr<std::vector<TestTensor>> Outputs(
      const std::shared_ptr<CompiledGraph>& compiled,
      const std::vector<TestTensor>& inputs,
      absl::Time deadline = absl::InfiniteFuture()) {
    PreparationChannel channel(1);
    channel.Detach();
    if (absl::Status s = PrepareNodes(*compiled, *device_, channel); !s.ok()) {
      return s;
    }
    return PreparedOutputs(compiled, inputs, deadline);
  }

  absl::StatusOr<std::vector<TestTensor>> PreparedOutputs(
      const std::shared_ptr<CompiledGraph>& compiled,
      const std::vector<TestTensor>& inputs,
      absl::Time deadline = absl::InfiniteFuture()) {
    Execution execution;
    execution.deadline = deadline;
    for (const TestTensor& input : inputs) {
      execution.inputs.push_back(Value(input));
    }
    if (absl::Status s = Run(execution, compiled); !s.ok()) return s;
    std::vector<TestTensor> outputs;
    for (const HostValue& value : execution.outputs) {
      outputs.push_back(TensorOfBytes(value.dtype, value.shape,
                                      value.bytes.data(), value.bytes.size()));
    }
    return outputs;
  }

  static std::vector<float> Floats(const HostValue& value) {
    std::vector<float> floats(value.bytes.size() / sizeof(float));
    if (!floats.empty()) {
      std::memcpy(floats.data(), value.bytes.data(), value.bytes.size());
    }
    return floats;
  }

  Device& device() { return *device_; }
  LaneSlot& slot() { return *slot_; }
  op_profile::OpProfile& profile() { return profile_; }
  BufferPool& buffers() { return buffers_; }
  CompilerEnvironment& environment() { return environment_; }
  CompileOptions& options() { return options_; }
  bool lane_is_busy() const { return lane_is_busy_; }

 private:
  BufferPool buffers_{1 << 20};
  op_profile::OpProfile profile_;
  std::unique_ptr<Device> host_device_;
  std::unique_ptr<WeightStore> host_weights_;
  HostCompanion host_;
  std::unique_ptr<Device> device_;
  WeightStore weights_;
  std::unique_ptr<LaneSlot> slot_;
  std::unique_ptr<SharedEvaluator> evaluator_;
  KernelBindingTable table_;
  CompilerEnvironment environment_;
  CompileOptions options_;
  bool lane_is_busy_ = false;
};

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_EXECUTION_RIG_H_
