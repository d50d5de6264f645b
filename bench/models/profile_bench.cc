// What op_profile costs a whole model inside the engine: its runs with the
// accounting off beside its runs with the daemon's default, sampled.
//
//   profile_bench --model M.onnx --data SET [--rounds N] [--round-ms T]
//       times rounds of both in turns, on one thread, and prints one line of
//       JSON; the figure is the median over pairs of neighbouring rounds
//   profile_bench --model M.onnx --data SET --mode off|sampled|full --runs N
//       makes N runs, for an instruction counter around the process

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/models/bench_case.h"
#include "bench/models/model_engine.h"
#include "bench/models/run_times.h"
#include "engine/graph/status_macros.h"
#include "nlohmann/json.hpp"

namespace tensord::bench {
namespace {

using op_profile::Mode;

struct Options {
  std::string model;
  std::vector<std::string> data;
  int rounds = 41;
  int round_ms = 50;
  std::string mode;
  int runs = 0;
};

double Median(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The mean nanoseconds of `count` runs.
absl::StatusOr<double> Round(ModelEngine& engine, Mode mode, int64_t count) {
  TENSORD_RETURN_IF_ERROR(engine.ConfigureProfile(mode));
  const int64_t start = NowNs();
  for (int64_t i = 0; i < count; ++i) {
    TENSORD_RETURN_IF_ERROR(engine.Run(0).status());
  }
  return static_cast<double>(NowNs() - start) / static_cast<double>(count);
}

absl::Status Compare(ModelEngine& engine, const Options& options) {
  constexpr int64_t kFirstRuns = 20;
  TENSORD_ASSIGN_OR_RETURN(const double warm_ns,
                           Round(engine, Mode::kOff, kFirstRuns));
  const auto count = std::max<int64_t>(
      1, static_cast<int64_t>(options.round_ms * 1e6 / warm_ns));
  std::vector<double> off, sampled, ratios;
  for (int i = 0; i < options.rounds; ++i) {
    // Who comes first takes turns, so that a drift of the clock rate cancels.
    const bool off_first = i % 2 == 0;
    TENSORD_ASSIGN_OR_RETURN(
        const double first,
        Round(engine, off_first ? Mode::kOff : Mode::kSampled, count));
    TENSORD_ASSIGN_OR_RETURN(
        const double second,
        Round(engine, off_first ? Mode::kSampled : Mode::kOff, count));
    off.push_back(off_first ? first : second);
    sampled.push_back(off_first ? second : first);
    ratios.push_back(sampled.back() / off.back());
  }
  TENSORD_RETURN_IF_ERROR(engine.RunTraced(0).status());
  const nlohmann::ordered_json line = {
      {"off_us", Median(off) / 1e3},
      {"sampled_us", Median(sampled) / 1e3},
      {"ratio", Median(ratios)},
      {"rounds", options.rounds},
      {"runs_per_round", count},
      {"launches", engine.trace(0).rows().size()}};
  std::printf("%s\n", line.dump().c_str());
  return absl::OkStatus();
}

absl::Status Bench(const Options& options) {
  TENSORD_ASSIGN_OR_RETURN(const std::vector<DataSet> data_sets,
                           ReadDataSets(options.data));
  TENSORD_ASSIGN_OR_RETURN(const std::unique_ptr<ModelEngine> engine,
                           ModelEngine::Create(/*threads=*/1));
  TENSORD_RETURN_IF_ERROR(engine->Load(options.model, data_sets));
  if (options.mode.empty()) return Compare(*engine, options);
  const Mode mode = options.mode == "off"    ? Mode::kOff
                    : options.mode == "full" ? Mode::kFull
                                             : Mode::kSampled;
  return Round(*engine, mode, options.runs).status();
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("What op_profile costs a model");
  app.add_option("--model", options.model, "The ONNX file")->required();
  app.add_option("--data", options.data, "Folder with input_I.pb")->required();
  app.add_option("--rounds", options.rounds, "Of each mode")
      ->check(CLI::Range(1, 100'000));
  app.add_option("--round-ms", options.round_ms, "How long a round is")
      ->check(CLI::Range(1, 60'000));
  app.add_option("--mode", options.mode, "One mode alone")
      ->check(CLI::IsMember({"off", "sampled", "full"}));
  app.add_option("--runs", options.runs, "Of --mode")
      ->check(CLI::Range(1, 1'000'000'000));
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = Bench(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "profile_bench: %s\n", status.ToString().c_str());
  return 1;
}

}  // namespace
}  // namespace tensord::bench

int main(int argc, char** argv) { return tensord::bench::Main(argc, argv); }
