#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/tensordctl/arguments.h"
#include "tools/tensordctl/bench_report.h"
#include "tools/tensordctl/command.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/graph_name.h"
#include "tools/tensordctl/load.h"
#include "tools/tensordctl/progress_line.h"
#include "tools/tensordctl/request_options.h"

namespace tensord::ctl {
namespace {

constexpr char kExamples[] =
    "  tensordctl bench model.onnx --input random --set N=8 --concurrency 16\n"
    "  tensordctl bench model.onnx --input random --rate 200 --duration 1m\n"
    "  tensordctl bench small.onnx large.onnx --input random --stream --json\n"
    "A closed loop (--concurrency) tells what the daemon can do; an open one\n"
    "(--rate) what callers who do not wait for each other would feel: latency\n"
    "counts from when a call was due.\n"
    "Exit code: that of the first error, if any call had one.\n";

struct BenchOptions {
  std::vector<std::string> graphs;
  RequestOptions request;
  LoadOptions load;
  int connections = 1;
  std::string warm_up = "1s";
  std::string duration = "10s";
};

absl::Status ParseTimes(const Context& context, BenchOptions& options) {
  const auto duration = ParseTime("--duration", options.duration);
  if (!duration.ok()) return duration.status();
  if (*duration == absl::InfiniteDuration()) {
    return LocalError("--duration inf: it has to end");
  }
  options.load.duration = *duration;
  // Unlike the others it may be 0.
  options.load.warm_up = absl::ZeroDuration();
  if (options.warm_up != "0") {
    const auto warm_up = ParseTime("--warm-up", options.warm_up);
    if (!warm_up.ok()) return warm_up.status();
    options.load.warm_up = *warm_up;
  }
  const auto timeout = ParseTime("--timeout", context.options.timeout);
  if (!timeout.ok()) return timeout.status();
  options.load.timeout = *timeout;
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> Bench(const Context& context, BenchOptions& options) {
  const absl::Status status = ParseTimes(context, options);
  if (!status.ok()) return status;
  std::vector<Client> clients;
  for (int i = 0; i < options.connections; ++i) {
    auto client = context.Connect();
    if (!client.ok()) return client.status();
    clients.push_back(*std::move(client));
  }
  std::vector<std::shared_ptr<const v1::ExecuteRequest>> requests;
  std::vector<std::string> names;
  for (const std::string& name : options.graphs) {
    const auto graph = FindGraph(clients[0], name, {});
    if (!graph.ok()) return graph.status();
    auto request = RequestWithInputs(*graph, options.request);
    if (!request.ok()) return request.status();
    names.push_back(graph->name().empty() ? ShortId(graph->graph_id())
                                          : graph->name());
    // A run that fails is better told before than a thousand times.
    const auto first = clients[0].Execute(*request);
    if (!first.ok()) return first.status();
    requests.push_back(
        std::make_shared<v1::ExecuteRequest>(*std::move(request)));
  }
  ProgressLine line(context.console);
  const LoadResult result = RunLoad(
      absl::MakeSpan(clients), requests, options.load,
      [&](const LoadProgress& progress) { line.Show(ProgressText(progress)); });
  line.Clear();
  if (context.options.json) {
    context.PrintJson(JsonOfLoad(options.load, names, result));
  } else {
    context.console.out << "load       " << LoadText(options.load) << "\n";
    PrintLoad(context.console, names, result);
  }
  if (!result.total.first_error.ok()) {
    return ExitCodeOf(result.total.first_error);
  }
  return result.not_made_count > 0 ? ExitCode::kUnavailable : ExitCode::kOk;
}

}  // namespace

void AddBenchCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App& command = AddCommand(
      app, common, chosen, "bench", "Make load, and tell rates and latencies",
      kExamples,
      [options](const Context& context) { return Bench(context, *options); });
  command
      .add_option("GRAPH", options->graphs,
                  "ONNX files, or graph ids; they take turns")
      ->required();
  AddRequestOptions(command, options->request);
  CLI::Option* const concurrency =
      command
          .add_option("--concurrency", options->load.concurrency,
                      "Closed loop: so many calls are always open")
          ->check(CLI::Range(1, 100000))
          ->capture_default_str();
  command
      .add_option("--rate", options->load.rate,
                  "Open loop: so many calls a second, whatever comes back")
      ->check(CLI::Range(0.001, 1e6))
      ->excludes(concurrency);
  command
      .add_option("--max-open", options->load.max_open,
                  "Open loop: above so many open calls one is an error unmade")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command.add_option("--duration", options->duration, "Measure so long")
      ->capture_default_str();
  command
      .add_option("--warm-up", options->warm_up,
                  "Before that, make load without measuring; 0: none")
      ->capture_default_str();
  command
      .add_option("--connections", options->connections,
                  "Spread the calls over so many")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_flag("--stream", options->load.uses_streams,
                   "By ExecuteStream, one for each connection");
}

}  // namespace tensord::ctl
