// What compiling a graph for one more set of shapes takes.
//
//   specialise_bench --model M.onnx [--vary SYMBOL] [--set SYMBOL=EXTENT ...]
//                    [--first N] [--step N] [--count N] [--held N]
//
// Compiles the model for one length after the other of the symbolic extent
// SYMBOL (the first one that the inputs have), all others being 16 or what
// --set says, as the compile service does: PlanGraph, then PrepareNodes. The
// last --held compiled graphs stay alive, as in the cache. One line of JSON:
// the first compilation, the median of the others, what they counted, and what
// they took of the heap.

#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/api/packed_weights.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "bench/models/bench_case.h"
#include "bench/models/run_times.h"
#include "engine/compiled/graph_compiler.h"
#include "engine/graph/graph_builder.h"
#include "engine/graph/status_macros.h"
#include "engine/onnx/onnx_reader.h"
#include "engine/passes/device_evaluator.h"
#include "nlohmann/json.hpp"

namespace tensord::bench {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string model;
  std::string vary;
  std::vector<std::string> set;
  int64_t first = 17;
  int64_t step = 1;
  int count = 20;
  size_t held = 4;
};

struct Sample {
  double plan_ms = 0;
  double prepare_ms = 0;
};

size_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

// A graph and all that it is compiled with.
class Specialiser {
 public:
  static absl::StatusOr<std::unique_ptr<Specialiser>> Create(
      const Options& options) {
    std::unique_ptr<Specialiser> made(new Specialiser(options));
    TENSORD_RETURN_IF_ERROR(made->Load());
    return made;
  }

  absl::StatusOr<Sample> Compile(int64_t length) {
    TENSORD_ASSIGN_OR_RETURN(const std::vector<Shape> shapes, Shapes(length));
    Sample sample;
    const int64_t start = NowNs();
    TENSORD_ASSIGN_OR_RETURN(
        std::shared_ptr<CompiledGraph> compiled,
        PlanGraph(graph_, shapes, CompileOptions{}, *device_, *weights_, *lane_,
                  environment_));
    const int64_t planned = NowNs();
    PreparationChannel channel(1);
    channel.Detach();
    TENSORD_RETURN_IF_ERROR(PrepareNodes(*compiled, *device_, channel));
    sample.prepare_ms = static_cast<double>(NowNs() - planned) / 1e6;
    sample.plan_ms = static_cast<double>(planned - start) / 1e6;
    held_.push_back(std::move(compiled));
    if (held_.size() > options_.held) held_.pop_front();
    return sample;
  }

  Json Describe() const {
    return {{"nodes", graph_->nodes.size()},
            {"launches", held_.back()->node_count},
            {"footprint_kb",
             static_cast<double>(held_.back()->held_bytes()) / 1024},
            {"packed_mb", static_cast<double>(PackedBytesOf(*device_)) / 1e6}};
  }

 private:
  explicit Specialiser(const Options& options)
      : options_(options), backend_(MakeCpuBackend({.workers = &workers_})) {}

  absl::Status Load() {
    TENSORD_ASSIGN_OR_RETURN(device_, backend_->OpenDevice(0));
    TENSORD_ASSIGN_OR_RETURN(lane_, device_->CreateLane());
    weights_ = std::make_unique<WeightStore>(*device_);
    TENSORD_RETURN_IF_ERROR(table_.AddBackend(*backend_));
    TENSORD_ASSIGN_OR_RETURN(
        evaluator_,
        DeviceEvaluator::Create(*device_, backend_->kernels(), &workers_));
    environment_.table = &table_;
    environment_.profile = &profile_;
    environment_.evaluator = evaluator_.get();
    TENSORD_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(options_.model));
    TENSORD_ASSIGN_OR_RETURN(GraphDef definition,
                             ReadOnnx(bytes, environment_.limits));
    TENSORD_ASSIGN_OR_RETURN(
        Graph built, BuildGraph(std::move(definition), environment_.limits));
    graph_ = std::make_shared<const Graph>(std::move(built));
    for (const std::string& setting : options_.set) {
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(setting, absl::MaxSplits('=', 1));
      if (!absl::SimpleAtoi(parts.second, &extents_[parts.first])) {
        return absl::InvalidArgumentError(
            absl::StrCat("--set ", setting, " is not SYMBOL=EXTENT"));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Shape>> Shapes(int64_t length) {
    std::string varied = options_.vary;
    bool is_varied = false;
    std::vector<Shape> shapes;
    for (ValueId input : graph_->inputs) {
      const auto& declared = graph_->value(input).type.shape;
      if (!declared.has_value()) {
        return absl::InvalidArgumentError("an input has no declared rank");
      }
      Dims extents;
      for (Dim dim : *declared) {
        if (dim.is_known()) {
          extents.push_back(dim.extent());
          continue;
        }
        const std::string name = graph_->symbols.ToString(dim);
        if (varied.empty()) varied = name;
        const auto set = extents_.find(name);
        is_varied |= name == varied;
        extents.push_back(name == varied          ? length
                          : set != extents_.end() ? set->second
                                                  : 16);
      }
      TENSORD_ASSIGN_OR_RETURN(Shape shape, Shape::Create(extents));
      shapes.push_back(std::move(shape));
    }
    if (is_varied) return shapes;
    return absl::NotFoundError(
        absl::StrCat("no input has a symbolic extent ", varied));
  }

  const Options& options_;
  HostWorkerPool workers_{1};
  op_profile::OpProfile profile_;
  const std::unique_ptr<Backend> backend_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Lane> lane_;
  std::unique_ptr<WeightStore> weights_;
  KernelBindingTable table_;
  std::unique_ptr<DeviceEvaluator> evaluator_;
  CompilerEnvironment environment_;
  std::shared_ptr<const Graph> graph_;
  std::map<std::string, int64_t> extents_;
  std::list<std::shared_ptr<const CompiledGraph>> held_;
};

absl::Status Bench(const Options& options) {
  TENSORD_ASSIGN_OR_RETURN(const std::unique_ptr<Specialiser> specialiser,
                           Specialiser::Create(options));
  TENSORD_ASSIGN_OR_RETURN(const Sample first,
                           specialiser->Compile(options.first));
  std::vector<double> plan, prepare;
  const size_t heap_before = HeapBytes();
  for (int i = 1; i <= options.count; ++i) {
    TENSORD_ASSIGN_OR_RETURN(
        const Sample sample,
        specialiser->Compile(options.first + i * options.step));
    plan.push_back(sample.plan_ms);
    prepare.push_back(sample.prepare_ms);
  }
  const size_t heap_after = HeapBytes();
  Json line = {{"model", options.model}};
  line.update(specialiser->Describe());
  const double graphs =
      std::min<double>(options.count, static_cast<double>(options.held) - 1);
  line["heap_kb"] =
      (static_cast<double>(heap_after) - static_cast<double>(heap_before)) /
      1024 / std::max(graphs, 1.0);
  line["first_plan_ms"] = first.plan_ms;
  line["first_prepare_ms"] = first.prepare_ms;
  line["plan_ms"] = Median(plan);
  line["prepare_ms"] = Median(prepare);
  std::printf("%s\n", line.dump().c_str());
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Times compiling one model for further shapes.",
               "specialise_bench");
  app.add_option("--model", options.model, "The ONNX file")->required();
  app.add_option("--vary", options.vary, "The symbolic extent that varies");
  app.add_option("--set", options.set, "SYMBOL=EXTENT of another one");
  app.add_option("--first", options.first, "Its first length")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--step", options.step, "From one length to the next")
      ->check(CLI::Range(0, 1 << 20));
  app.add_option("--count", options.count, "Lengths after the first")
      ->check(CLI::Range(1, 100000));
  app.add_option("--held", options.held, "Compiled graphs that are kept")
      ->check(CLI::Range(1, 100000));
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = Bench(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "specialise_bench: %s\n",
               std::string(status.message()).c_str());
  return 1;
}

}  // namespace
}  // namespace tensord::bench

int main(int argc, char** argv) { return tensord::bench::Main(argc, argv); }
