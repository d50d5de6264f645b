#include "bench/models/model_engine.h"

#include <cstring>
#include <utility>
#include <variant>

#include "absl/synchronization/notification.h"
#include "backends/cpu/cpu_backend.h"
#include "bench/models/run_times.h"
#include "engine/graph/status_macros.h"
#include "engine/onnx/onnx_reader.h"

namespace tensord::bench {
namespace {

// Launches of one run that a trace keeps.
constexpr int kTraceCapacity = 100'000;

}  // namespace

ModelEngine::ModelEngine(int threads, std::set<std::string> disabled_passes)
    : options_{.disabled_passes = std::move(disabled_passes)},
      workers_(threads),
      backend_(MakeCpuBackend({.workers = &workers_})) {}

absl::StatusOr<std::unique_ptr<ModelEngine>> ModelEngine::Create(
    int threads, std::set<std::string> disabled_passes) {
  std::unique_ptr<ModelEngine> made(
      new ModelEngine(threads, std::move(disabled_passes)));
  // As the daemon accounts by default.
  TENSORD_RETURN_IF_ERROR(
      made->profile_.Configure({.mode = op_profile::Mode::kSampled}));
  EngineOptions options;
  options.calibrate_devices = true;
  // Whatever can runs on the thread that asks, however long it takes.
  options.inline_limit = absl::InfiniteDuration();
  Backend* const backends[] = {made->backend_.get()};
  const DeviceId devices[] = {{BackendId::kCpu, 0}};
  TENSORD_ASSIGN_OR_RETURN(
      made->engine_, Engine::Create(options, backends, devices, made->profile_,
                                    nullptr, {.workers = &made->workers_}));
  return made;
}

absl::Status ModelEngine::Load(const std::string& path,
                               const std::vector<DataSet>& data_sets) {
  data_sets_ = data_sets;
  TENSORD_RETURN_IF_ERROR(Submit(path));
  for (const DataSet& set : data_sets_) {
    auto run = std::make_unique<PreparedRun>();
    run->source = &set;
    run->execution.graph = graph_;
    run->execution.user = run.get();
    run->execution.on_done = [](Execution& execution) {
      static_cast<PreparedRun*>(execution.user)->done.release();
    };
    TENSORD_RETURN_IF_ERROR(FillInputs(*run));
    runs_.push_back(std::move(run));
  }
  return absl::OkStatus();
}

absl::Status ModelEngine::Submit(const std::string& path) {
  absl::Notification done;
  absl::StatusOr<Engine::SubmitOutcome> outcome;
  Engine::Submission submission;
  submission.id = "bench";
  submission.principal = "bench";
  submission.options = options_;
  submission.decode = [&]() -> absl::StatusOr<GraphDef> {
    TENSORD_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
    TENSORD_ASSIGN_OR_RETURN(GraphDef definition,
                             ReadOnnx(bytes, engine_->options().limits));
    CountNodes(definition);
    return definition;
  };
  engine_->SubmitGraph(std::move(submission),
                       [&](absl::StatusOr<Engine::SubmitOutcome> answer) {
                         outcome = std::move(answer);
                         done.Notify();
                       });
  done.WaitForNotification();
  if (!outcome.ok()) return outcome.status();
  graph_ = outcome->graph;
  return absl::OkStatus();
}

void ModelEngine::CountNodes(const GraphDef& graph) {
  for (const NodeDef& node : graph.nodes) {
    ++node_count_;
    if (node.op_type != "Constant") ++computing_node_count_;
    for (absl::string_view name : node.attributes.Names()) {
      const auto* body = std::get_if<std::shared_ptr<const GraphDef>>(
          node.attributes.Find(name));
      if (body != nullptr) CountNodes(**body);
    }
  }
}

absl::Status ModelEngine::FillInputs(PreparedRun& run) {
  const Graph& graph = *graph_->graph();
  auto& inputs = run.execution.inputs;
  inputs.resize(graph.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].bytes.data() != nullptr) continue;
    TENSORD_ASSIGN_OR_RETURN(
        const HostTensor tensor,
        FindInput(*run.source, graph.value(graph.inputs[i]).name));
    inputs[i].dtype = tensor.dtype();
    inputs[i].shape = tensor.shape();
    TENSORD_ASSIGN_OR_RETURN(inputs[i].bytes,
                             engine_->buffers().Allocate(tensor.size_bytes()));
    if (tensor.size_bytes() > 0) {
      std::memcpy(inputs[i].bytes.data(), tensor.bytes().data(),
                  tensor.size_bytes());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ModelEngine::Run(int set) {
  PreparedRun& run = *runs_[set];
  TENSORD_RETURN_IF_ERROR(FillInputs(run));
  const int64_t start = NowNs();
  engine_->Start(run.execution);
  run.done.acquire();
  const int64_t ns = NowNs() - start;
  if (!run.execution.status.ok()) return run.execution.status;
  return ns;
}

absl::StatusOr<int64_t> ModelEngine::RunTraced(int set) {
  Execution& execution = runs_[set]->execution;
  execution.trace_capacity = kTraceCapacity;
  absl::StatusOr<int64_t> ns = Run(set);
  execution.trace_capacity = 0;
  return ns;
}

absl::StatusOr<Explanation> ModelEngine::Explain(int set) {
  TENSORD_RETURN_IF_ERROR(FillInputs(*runs_[set]));
  std::vector<Shape> shapes;
  for (const HostValue& input : runs_[set]->execution.inputs) {
    shapes.push_back(input.shape);
  }
  absl::Notification done;
  absl::StatusOr<Explanation> explanation;
  engine_->ExplainGraph(graph_, std::move(shapes), {},
                        [&](absl::StatusOr<Explanation> answer) {
                          explanation = std::move(answer);
                          done.Notify();
                        });
  done.WaitForNotification();
  return explanation;
}

}  // namespace tensord::bench
