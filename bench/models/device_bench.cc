// How long a device takes for one graph whose inputs are there already, without
// queues and without a daemon around it.
//
//   device_bench --model M.onnx [--device cuda:0] [--dim N=1 ...]
//                [--runs N] [--programs=false]
//
// Compiles the model for one device and one lane, and prints one line of JSON:
//
//   device_ms    one run's launches by the device's own clock: many, back to
//                back between two time marks
//   p50_us       from submitting one run's launches to their completion, as a
//                thread sees it that waits; p90_us
//   run_p50_us   a whole run: inputs up, launches, outputs down
//
// with the launches, how they were submitted, and the steps on the host, which
// have to be none for the first two to mean anything.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "bench/models/bench_case.h"
#include "bench/models/run_times.h"
#include "engine/compiled/graph_compiler.h"
#include "engine/exec/executor.h"
#include "engine/exec/step_launcher.h"
#include "engine/graph/graph_builder.h"
#include "engine/graph/status_macros.h"
#include "engine/onnx/onnx_reader.h"
#include "engine/passes/device_evaluator.h"
#include "engine/passes/shared_evaluator.h"
#include "nlohmann/json.hpp"
#ifdef TENSORD_BENCH_CUDA
#include "backends/cuda/cuda_backend.h"
#endif

namespace tensord::bench {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string model;
  std::string device = "cuda:0";
  std::vector<std::string> dims;  // "N=1"
  int runs = 200;
  bool programs = true;
};

// The device under test, with the processor beside it.
class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {}

  absl::StatusOr<Json> Run() {
    TENSORD_RETURN_IF_ERROR(OpenDevices());
    TENSORD_RETURN_IF_ERROR(Compile());
    TENSORD_RETURN_IF_ERROR(FillInputs());
    // Steps one by one, recorded, replayed.
    for (int i = 0; i < 3; ++i) TENSORD_RETURN_IF_ERROR(RunWhole().status());
    Json line = {{"device", options_.device},
                 {"launches", graph_->node_count},
                 {"host_steps", graph_->host_step_count},
                 {"programs", slot_->programs() != nullptr &&
                                  slot_->programs()->launch_count() > 0}};
    if (graph_->host_step_count == 0 && graph_->flow == nullptr &&
        graph_->later_segments == nullptr) {
      TENSORD_ASSIGN_OR_RETURN(line["device_ms"], DeviceMs());
      TENSORD_RETURN_IF_ERROR(AddPercentiles(
          "", [this] { return SubmitAndWait(); }, line));
    }
    TENSORD_RETURN_IF_ERROR(AddPercentiles(
        "run_", [this] { return RunWhole(); }, line));
    return line;
  }

 private:
  absl::StatusOr<std::unique_ptr<Backend>> MakeBackend(BackendId id) {
    if (id == BackendId::kCpu) return MakeCpuBackend({.workers = &workers_});
#ifdef TENSORD_BENCH_CUDA
    if (id == BackendId::kCuda) {
      return cuda::MakeCudaBackend({.workers = &workers_});
    }
#endif
    return absl::NotFoundError(absl::StrCat(
        "device ", options_.device, ": this build has no such backend"));
  }

  // "cuda:0".
  static std::optional<DeviceId> ParseDevice(const std::string& name) {
    const size_t colon = name.find(':');
    if (colon == std::string::npos) return std::nullopt;
    const std::optional<BackendId> backend =
        BackendFromName(name.substr(0, colon));
    uint32_t ordinal = 0;
    if (!backend.has_value() ||
        !absl::SimpleAtoi(name.substr(colon + 1), &ordinal)) {
      return std::nullopt;
    }
    return DeviceId{*backend, static_cast<uint16_t>(ordinal)};
  }

  absl::Status OpenDevices() {
    const std::optional<DeviceId> id = ParseDevice(options_.device);
    if (!id.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--device ", options_.device, " is not like cuda:0"));
    }
    TENSORD_ASSIGN_OR_RETURN(backend_, MakeBackend(id->backend));
    TENSORD_ASSIGN_OR_RETURN(device_, backend_->OpenDevice(id->ordinal));
    TENSORD_RETURN_IF_ERROR(table_.AddBackend(*backend_));
    cpu_ = MakeCpuBackend({.workers = &workers_});
    TENSORD_ASSIGN_OR_RETURN(host_device_, cpu_->OpenDevice(0));
    if (id->backend != BackendId::kCpu) {
      TENSORD_RETURN_IF_ERROR(table_.AddBackend(*cpu_));
    }
    host_weights_ = std::make_unique<WeightStore>(*host_device_);
    host_ = {host_device_.get(), host_weights_.get()};
    TENSORD_ASSIGN_OR_RETURN(
        std::unique_ptr<DeviceEvaluator> evaluator,
        DeviceEvaluator::Create(*host_device_, cpu_->kernels(), &workers_));
    evaluator_ = std::make_unique<SharedEvaluator>(std::move(evaluator));
    weights_ = std::make_unique<WeightStore>(*device_);
    buffers_.UseDevice(device_->info().is_synchronous ? nullptr
                                                      : device_.get());
    TENSORD_ASSIGN_OR_RETURN(
        slot_, LaneSlot::Create(*device_, /*profile=*/nullptr, &workers_,
                                options_.programs));
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> ExtentOf(const std::string& symbol) const {
    for (const std::string& dim : options_.dims) {
      const size_t at = dim.find('=');
      int64_t extent = 0;
      if (at != std::string::npos && dim.substr(0, at) == symbol &&
          absl::SimpleAtoi(dim.substr(at + 1), &extent)) {
        return extent;
      }
    }
    return absl::InvalidArgumentError(
        absl::StrCat("the model needs --dim ", symbol, "=..."));
  }

  absl::Status Compile() {
    TENSORD_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(options_.model));
    const CompilerEnvironment environment{
        .table = &table_, .evaluator = evaluator_.get(), .host = &host_};
    TENSORD_ASSIGN_OR_RETURN(GraphDef definition,
                             ReadOnnx(bytes, environment.limits));
    std::vector<Shape> shapes;
    for (const ValueDef& input : definition.inputs) {
      if (IsInitializer(definition, input.name)) continue;
      Dims extents;
      for (const DimDef& dim : input.dims.value_or(std::vector<DimDef>())) {
        if (const auto* symbol = std::get_if<std::string>(&dim)) {
          TENSORD_ASSIGN_OR_RETURN(const int64_t extent, ExtentOf(*symbol));
          extents.push_back(extent);
        } else {
          extents.push_back(std::get<int64_t>(dim));
        }
      }
      TENSORD_ASSIGN_OR_RETURN(Shape shape, Shape::Create(extents));
      shapes.push_back(std::move(shape));
    }
    TENSORD_ASSIGN_OR_RETURN(
        Graph built, BuildGraph(std::move(definition), environment.limits));
    TENSORD_ASSIGN_OR_RETURN(
        std::shared_ptr<CompiledGraph> planned,
        PlanGraph(std::make_shared<Graph>(std::move(built)), shapes, {},
                  *device_, *weights_, slot_->lane(), environment));
    PreparationChannel channel(1);
    channel.Detach();
    TENSORD_RETURN_IF_ERROR(PrepareNodes(*planned, *device_, channel));
    graph_ = std::move(planned);
    shapes_ = std::move(shapes);
    return absl::OkStatus();
  }

  static bool IsInitializer(const GraphDef& graph, const std::string& name) {
    return std::any_of(
        graph.initializers.begin(), graph.initializers.end(),
        [&](const auto& initializer) { return initializer.name == name; });
  }

  // Pseudo-random numbers of magnitude below 1 for floating types: on zeros
  // some devices are faster. Integers are 0, a valid index.
  absl::Status FillInputs() {
    uint32_t state = 1;
    const auto next = [&state] {
      state = state * 1664525 + 1013904223;
      return static_cast<float>(state >> 8) / (1 << 23) - 1;
    };
    for (size_t i = 0; i < graph_->inputs.size(); ++i) {
      const Port& port = graph_->inputs[i];
      HostValue& input = execution_.inputs.emplace_back();
      input.dtype = port.dtype;
      input.shape = shapes_[i];
      TENSORD_ASSIGN_OR_RETURN(input.bytes, buffers_.Allocate(port.size_bytes));
      std::memset(input.bytes.data(), 0, port.size_bytes);
      const int64_t count = input.shape.element_count();
      for (int64_t k = 0; k < count; ++k) {
        if (port.dtype == DType::kFloat32) {
          reinterpret_cast<float*>(input.bytes.data())[k] = next();
        } else if (port.dtype == DType::kFloat16) {
          reinterpret_cast<Float16*>(input.bytes.data())[k] = Float16(next());
        } else if (port.dtype == DType::kBFloat16) {
          reinterpret_cast<BFloat16*>(input.bytes.data())[k] = BFloat16(next());
        }
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> RunWhole() {
    const int64_t start = NowNs();
    bool lane_is_busy = false;
    TENSORD_RETURN_IF_ERROR(RunExecution(*slot_, *graph_, execution_, buffers_,
                                         nullptr, &lane_is_busy));
    return NowNs() - start;
  }

  // What the last whole run has left in the arena is there.
  absl::Status Enqueue() {
    const CompiledRun run = Launches();
    const RunOperands operands(*slot_, *graph_);
    StepLauncher launcher(*slot_, *graph_, run, operands);
    for (size_t i = 0; i < graph_->first.stretches.size(); ++i) {
      TENSORD_RETURN_IF_ERROR(launcher.Launch(graph_->first, nullptr, i));
    }
    return absl::OkStatus();
  }

  CompiledRun Launches() {
    static constexpr auto kNone = []() -> std::shared_ptr<const void> {
      return nullptr;
    };
    return {.outputs = &execution_.outputs,
            .phase_ns = &execution_.phase_ns,
            .take_inputs = kNone};
  }

  absl::Status Wait() {
    TENSORD_ASSIGN_OR_RETURN(const CompletionHandle done,
                             slot_->lane().RecordCompletion());
    return done.WaitUntil(absl::InfiniteFuture());
  }

  absl::StatusOr<int64_t> SubmitAndWait() {
    const int64_t start = NowNs();
    TENSORD_RETURN_IF_ERROR(Enqueue());
    TENSORD_RETURN_IF_ERROR(Wait());
    return NowNs() - start;
  }

  // Three times; the middle one. Nothing where the device has no clock.
  absl::StatusOr<Json> DeviceMs() {
    if (!device_->info().has_timestamps) return Json();
    Lane& lane = slot_->lane();
    TENSORD_RETURN_IF_ERROR(lane.ReserveTimeMarks(2));
    std::vector<double> ms;
    for (int round = 0; round < 3; ++round) {
      // The first runs warm it up.
      for (int i = 0; i < 10; ++i) TENSORD_RETURN_IF_ERROR(Enqueue());
      TENSORD_RETURN_IF_ERROR(lane.RecordTimeMark(0));
      for (int i = 0; i < options_.runs; ++i) {
        TENSORD_RETURN_IF_ERROR(Enqueue());
      }
      TENSORD_RETURN_IF_ERROR(lane.RecordTimeMark(1));
      TENSORD_RETURN_IF_ERROR(Wait());
      int64_t marks[2];
      TENSORD_RETURN_IF_ERROR(lane.ReadTimeMarks(absl::MakeSpan(marks)));
      ms.push_back(static_cast<double>(marks[1] - marks[0]) / 1e6 /
                   options_.runs);
    }
    std::sort(ms.begin(), ms.end());
    return Json(ms[1]);
  }

  template <typename Call>
  absl::Status AddPercentiles(const std::string& prefix, Call call,
                              Json& line) {
    std::vector<int64_t> times;
    for (int i = 0; i < options_.runs / 10 + 1; ++i) {
      TENSORD_RETURN_IF_ERROR(call().status());
    }
    for (int i = 0; i < 5 * options_.runs; ++i) {
      TENSORD_ASSIGN_OR_RETURN(const int64_t ns, call());
      times.push_back(ns);
    }
    std::sort(times.begin(), times.end());
    line[prefix + "p50_us"] = times[times.size() / 2] / 1e3;
    line[prefix + "p90_us"] = times[times.size() * 9 / 10] / 1e3;
    return absl::OkStatus();
  }

  const Options& options_;
  HostWorkerPool workers_{1};
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Backend> cpu_;
  KernelBindingTable table_;
  std::unique_ptr<Device> host_device_;
  std::unique_ptr<WeightStore> host_weights_;
  HostCompanion host_;
  std::unique_ptr<SharedEvaluator> evaluator_;
  std::unique_ptr<Device> device_;
  BufferPool buffers_{uint64_t{1} << 30};
  std::unique_ptr<WeightStore> weights_;
  std::vector<Shape> shapes_;
  std::shared_ptr<const CompiledGraph> graph_;
  std::unique_ptr<LaneSlot> slot_;
  Execution execution_;
};

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Times one ONNX model on one device.", "device_bench");
  app.add_option("--model", options.model, "The ONNX file")->required();
  app.add_option("--device", options.device, "Such as cuda:0, or cpu:0");
  app.add_option("--dim", options.dims, "A symbolic extent, such as N=1");
  app.add_option("--runs", options.runs, "Runs between two time marks")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--programs", options.programs,
                 "Whether launches are recorded and submitted as a whole");
  CLI11_PARSE(app, argc, argv);
  const absl::StatusOr<Json> line = Bench(options).Run();
  if (!line.ok()) {
    std::fprintf(stderr, "device_bench: %s\n",
                 std::string(line.status().message()).c_str());
    return 1;
  }
  std::printf("%s\n", line->dump().c_str());
  return 0;
}

}  // namespace
}  // namespace tensord::bench

int main(int argc, char** argv) { return tensord::bench::Main(argc, argv); }
