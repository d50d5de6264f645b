// How long one model takes inside the engine, without a daemon around it.
//
//   engine_bench --model M.onnx --data SET [--data SET ...] [--threads N]
//                [--seconds S] [--profile N] [--without PASS ...]
//
// Submits the model, warms up, and then runs the data sets in turn on the
// calling thread, as ONNX Runtime's Run() does. One line of JSON: times, nodes
// before and after the passes, peak memory. With --profile also where the time
// goes, from runs in which every launch is timed: by operator and kernel, and
// the N nodes that take longest; and how many launches took between half and
// twice what was estimated (scripts/estimate_check.py shows it for all models).

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/models/bench_case.h"
#include "bench/models/model_engine.h"
#include "bench/models/run_times.h"
#include "engine/graph/status_macros.h"
#include "nlohmann/json.hpp"

namespace tensord::bench {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string model;
  std::vector<std::string> data;
  int threads = 1;
  double seconds = 1.5;
  int profiled_nodes = -1;  // below 0: no profile
  std::vector<std::string> disabled_passes;
};

// What launches of one kind took, over all traced runs.
struct Share {
  int64_t ns = 0;
  int64_t launches = 0;
};

// The shares, largest first, per run.
template <typename Key, typename ToText>
Json Ranked(const std::map<Key, Share>& shares, int run_count, size_t limit,
            ToText to_text) {
  std::vector<std::pair<Key, Share>> ranked(shares.begin(), shares.end());
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.second.ns > b.second.ns;
  });
  if (ranked.size() > limit) ranked.resize(limit);
  Json rows = Json::array();
  for (const auto& [key, share] : ranked) {
    Json row = to_text(key);
    row["ms"] = static_cast<double>(share.ns) / 1e6 / run_count;
    row["launches"] = static_cast<double>(share.launches) / run_count;
    rows.push_back(std::move(row));
  }
  return rows;
}

// What one launch took in each traced run.
using LaunchTimes = std::map<uint32_t, std::vector<int64_t>>;

double MedianMs(std::vector<int64_t> times) {
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  return static_cast<double>(times[times.size() / 2]) / 1e6;
}

// Every launch counts, however short.
Json EstimatesWithinTwice(const LaunchTimes& times,
                          const Explanation& explanation) {
  int64_t within = 0;
  for (const auto& [index, launch_ns] : times) {
    const double measured_ms = MedianMs(launch_ns);
    const double estimated_ms = explanation.nodes.at(index).estimated_ns / 1e6;
    within +=
        estimated_ms <= 2 * measured_ms && measured_ms <= 2 * estimated_ms;
  }
  return {{"launches", times.size()}, {"within_twice", within}};
}

// Where the time of data set 0 goes. "between_ms" is what no launch was charged
// with, the engine's own: the median over the runs, since a run that another
// process interrupts is charged for that here.
absl::StatusOr<Json> Profile(ModelEngine& engine, const Options& options) {
  std::map<std::pair<std::string, std::string>, Share> by_kernel;
  std::map<uint32_t, Share> by_node;
  LaunchTimes launch_times;
  RunTimes total(1), between(1);
  int run_count = 0;
  const int64_t end = NowNs() + static_cast<int64_t>(options.seconds * 1e9);
  do {
    TENSORD_ASSIGN_OR_RETURN(const int64_t ns, engine.RunTraced(0));
    ++run_count;
    int64_t launched_ns = 0;
    for (const op_profile::TraceRow& row : engine.trace(0).rows()) {
      const op_profile::SlotIdentity identity = engine.Describe(row.slot);
      const auto ns_of_row = static_cast<int64_t>(row.host_ns);
      launched_ns += ns_of_row;
      for (Share* share :
           {&by_kernel[{std::string(identity.op.name()), identity.kernel}],
            &by_node[row.node_index]}) {
        share->ns += ns_of_row;
        ++share->launches;
      }
      launch_times[row.node_index].push_back(ns_of_row);
    }
    total.Add(0, ns);
    between.Add(0, ns - launched_ns);
  } while (NowNs() < end);
  TENSORD_ASSIGN_OR_RETURN(const Explanation explanation, engine.Explain(0));
  // Stages have node indices of their own, which mean nothing to the whole.
  const bool is_staged =
      !explanation.nodes.empty() && explanation.nodes[0].kernel.empty();
  Json profile = {
      {"run_ms", total.PercentileMs(0.5)},
      {"between_ms", between.PercentileMs(0.5)},
      {"kernels", Ranked(by_kernel, run_count, 1000, [](const auto& key) {
         return Json{{"op", key.first}, {"kernel", key.second}};
       })}};
  if (is_staged) return profile;
  profile["estimates"] = EstimatesWithinTwice(launch_times, explanation);
  profile["nodes"] =
      Ranked(by_node, run_count, options.profiled_nodes, [&](uint32_t index) {
        const ExplainedNode& node = explanation.nodes.at(index);
        return Json{{"name", node.name},
                    {"op", node.op},
                    {"kernel", node.kernel},
                    {"shape", node.output_shape},
                    {"median_ms", MedianMs(launch_times.at(index))},
                    {"estimated_ms", node.estimated_ns / 1e6}};
      });
  return profile;
}

absl::Status Bench(const Options& options) {
  TENSORD_ASSIGN_OR_RETURN(const std::vector<DataSet> data_sets,
                           ReadDataSets(options.data));
  TENSORD_ASSIGN_OR_RETURN(
      const std::unique_ptr<ModelEngine> engine,
      ModelEngine::Create(options.threads, {options.disabled_passes.begin(),
                                            options.disabled_passes.end()}));
  const int64_t start = NowNs();
  TENSORD_RETURN_IF_ERROR(engine->Load(options.model, data_sets));
  const int set_count = static_cast<int>(data_sets.size());
  for (int set = 0; set < set_count; ++set) {
    TENSORD_RETURN_IF_ERROR(engine->Run(set).status());
  }
  const int64_t loaded = NowNs();
  RunBudget budget;
  budget.measure = absl::Seconds(options.seconds);
  budget.warm_up = budget.measure / 5;
  TENSORD_ASSIGN_OR_RETURN(const RunTimes times,
                           MeasureRuns(set_count, budget, [&](int set) {
                             return engine->Run(set);
                           }));

  Json line = times.ToJson();
  line["load_ms"] = static_cast<double>(loaded - start) / 1e6;
  line["peak_rss_mb"] = PeakRssMb();
  line["threads"] = options.threads;
  TENSORD_RETURN_IF_ERROR(engine->RunTraced(0).status());
  line["nodes"] = engine->node_count();
  line["computing_nodes"] = engine->computing_node_count();
  line["launches"] = engine->trace(0).rows().size();
  if (options.profiled_nodes >= 0) {
    TENSORD_ASSIGN_OR_RETURN(line["profile"], Profile(*engine, options));
  }
  std::printf("%s\n", line.dump().c_str());
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Times one ONNX model inside the engine.", "engine_bench");
  app.add_option("--model", options.model, "The ONNX file")->required();
  app.add_option("--data", options.data,
                 "Folder of input_I.pb; several take turns")
      ->required();
  app.add_option("--threads", options.threads, "Threads of one kernel")
      ->check(CLI::Range(1, 1024));
  app.add_option("--seconds", options.seconds, "How long to measure")
      ->check(CLI::Range(0.01, 3600.0));
  app.add_option("--profile", options.profiled_nodes,
                 "Also where the time goes, with so many single nodes")
      ->check(CLI::Range(0, 100000));
  app.add_option("--without", options.disabled_passes,
                 "Passes to leave out, as ExplainGraph calls them");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = Bench(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "engine_bench: %s\n",
               std::string(status.message()).c_str());
  return 1;
}

}  // namespace
}  // namespace tensord::bench

int main(int argc, char** argv) { return tensord::bench::Main(argc, argv); }
