#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "tools/tensordctl/chrome_trace.h"
#include "tools/tensordctl/command.h"
#include "tools/tensordctl/data_set.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/files.h"
#include "tools/tensordctl/graph_name.h"
#include "tools/tensordctl/proto_json.h"
#include "tools/tensordctl/request_options.h"
#include "tools/tensordctl/run_report.h"
#include "tools/tensordctl/shapes.h"

namespace tensord::ctl {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kExamples[] =
    "  tensordctl run model.onnx --input image=sample.npy --top 3\n"
    "  tensordctl run 3fa96c12 --input x=random --set N=8 --repeat 100\n"
    "  tensordctl run model.onnx --input ids=ids.json --output-dir out\n"
    "  tensordctl run model.onnx --expect test_data_set_*\n"
    "  tensordctl run model.onnx --input random --trace-file trace.json\n"
    "Inputs:\n"
    "  .npy: NumPy; .pb: onnx.TensorProto; .json: nested lists of numbers\n"
    "  random: normal floats, integers 0 to 9; alone: all inputs not named\n"
    "  tensor:ID: one that is on a device (upload, --keep); donate:ID: and "
    "that\n"
    "  the run may write over\n"
    "Exit code 5: an output differs from --expect.\n";

struct RunOptions {
  std::string graph;
  RequestOptions request;
  std::string output_dir;
  int64_t top = 0;
  std::string labels;
  std::vector<std::string> data_sets;
  Tolerance tolerance = {.rtol = 1e-3, .atol = 1e-5};
  int repeat = 1;
  bool trace = false;
  std::string trace_file;
};

// The answer to the last of `repeat` calls, and how long each took.
struct Answer {
  v1::ExecuteResponse response;
  std::vector<int64_t> durations_ns;
};

class Run {
 public:
  Run(const Context& context, const RunOptions& options)
      : context_(context), options_(options) {}

  absl::StatusOr<ExitCode> Do() {
    // What is wrong with the command line is told without a daemon.
    const auto symbols = ParseSymbols(options_.request.symbols);
    if (!symbols.ok()) return symbols.status();
    absl::Status status = ReadLabels();
    if (!status.ok()) return status;
    auto client = context_.Connect();
    if (!client.ok()) return client.status();
    const auto graph = FindGraph(*client, options_.graph, {});
    if (!graph.ok()) return graph.status();
    json_["graph_id"] = graph->graph_id();
    status = options_.data_sets.empty() ? RunOnce(*client, *graph)
                                        : RunDataSets(*client, *graph);
    if (!status.ok()) return status;
    if (context_.options.json) context_.PrintJson(json_);
    return is_as_expected_ ? ExitCode::kOk : ExitCode::kDiffers;
  }

 private:
  absl::Status ReadLabels() {
    if (options_.labels.empty()) return absl::OkStatus();
    const auto text = ReadFile(options_.labels);
    if (!text.ok()) return LocalError(text.status().message());
    labels_ = absl::StrSplit(*text, '\n');
    if (labels_.back().empty()) labels_.pop_back();
    return absl::OkStatus();
  }

  absl::Status RunOnce(Client& client, const v1::GraphInfo& graph) {
    auto request = RequestWithInputs(graph, options_.request);
    if (!request.ok()) return request.status();
    const auto answer = Execute(client, *std::move(request));
    if (!answer.ok()) return answer.status();
    return context_.options.json ? AddToJson(*answer, json_) : Print(*answer);
  }

  absl::Status RunDataSets(Client& client, const v1::GraphInfo& graph) {
    json_["expect"] = Json::array();
    for (const std::string& folder : options_.data_sets) {
      auto set = ReadDataSet(folder, graph);
      if (!set.ok()) return set.status();
      auto request = RequestFor(graph, options_.request);
      if (!request.ok()) return request.status();
      for (v1::ExecuteInput& input : set->inputs) {
        *request->add_inputs() = std::move(input);
      }
      const auto answer = Execute(client, *std::move(request));
      if (!answer.ok()) return answer.status();
      const auto compared =
          CompareOutputs(*set, answer->response, options_.tolerance);
      for (const ComparedOutput& output : compared) {
        is_as_expected_ = is_as_expected_ && output.difference.is_within();
      }
      absl::Status status;
      if (context_.options.json) {
        Json one = JsonOfComparison(set->name, compared);
        status = AddToJson(*answer, one);
        json_["expect"].push_back(std::move(one));
      } else {
        PrintComparison(context_.console, set->name, compared,
                        options_.tolerance);
        status = PrintAsked(*answer);
      }
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Answer> Execute(Client& client, v1::ExecuteRequest request) {
    if (options_.trace || !options_.trace_file.empty()) AskForTrace(request);
    Answer answer;
    for (int i = 0; i < options_.repeat; ++i) {
      const absl::Time start = absl::Now();
      auto response = client.Execute(request);
      if (!response.ok()) return response.status();
      answer.durations_ns.push_back(
          absl::ToInt64Nanoseconds(absl::Now() - start));
      answer.response = *std::move(response);
    }
    return answer;
  }

  absl::Status Print(const Answer& answer) {
    context_.console.out << "graph      "
                         << json_["graph_id"].get<std::string>() << "\n";
    PrintTimings(context_.console, answer.response);
    if (options_.top == 0) PrintOutputs(context_.console, answer.response);
    return PrintAsked(answer);
  }

  // What was asked for by options of its own.
  absl::Status PrintAsked(const Answer& answer) {
    absl::Status status;
    if (options_.top > 0) {
      status = PrintTopClasses(context_.console, answer.response, options_.top,
                               labels_);
    }
    if (options_.repeat > 1) {
      PrintLatency(context_.console, SummarizeLatency(answer.durations_ns));
    }
    if (options_.trace && answer.response.has_trace()) {
      PrintTrace(context_.console, answer.response.trace());
    } else if (options_.trace) {
      context_.console.out << "trace      none: the daemon sent none\n";
    }
    std::vector<std::string> written;
    if (status.ok()) status = WriteFiles(answer, written);
    for (const std::string& path : written) {
      context_.console.out << "wrote      " << path << "\n";
    }
    return status;
  }

  absl::Status AddToJson(const Answer& answer, Json& json) {
    Json response = JsonOfMessage(answer.response);
    for (auto& [key, value] : response.items()) {
      // A comparison has a list of that name already.
      if (json.contains(key)) continue;
      json[key] = std::move(value);
    }
    if (options_.top > 0) {
      auto top = JsonOfTopClasses(answer.response, options_.top, labels_);
      if (!top.ok()) return top.status();
      json["top"] = *std::move(top);
    }
    if (options_.repeat > 1) {
      const Latency latency = SummarizeLatency(answer.durations_ns);
      json["latency"] = {{"count", latency.count},
                         {"min_ns", latency.min_ns},
                         {"p50_ns", latency.p50_ns},
                         {"p99_ns", latency.p99_ns},
                         {"max_ns", latency.max_ns}};
    }
    std::vector<std::string> written;
    const absl::Status status = WriteFiles(answer, written);
    if (!written.empty()) json["written"] = written;
    return status;
  }

  absl::Status WriteFiles(const Answer& answer,
                          std::vector<std::string>& written) {
    if (!options_.output_dir.empty()) {
      const absl::Status status =
          WriteOutputs(answer.response, options_.output_dir, written);
      if (!status.ok()) return status;
    }
    if (options_.trace_file.empty()) return absl::OkStatus();
    const RunTrace run{.execution_id = answer.response.execution_id(),
                       .graph_id = json_["graph_id"].get<std::string>(),
                       .device = answer.response.device(),
                       .timings = answer.response.timings(),
                       .launches = answer.response.trace()};
    const absl::Status status =
        WriteFile(options_.trace_file, JsonText(ChromeTrace(run)));
    if (!status.ok()) return LocalError("--trace-file", status);
    written.push_back(options_.trace_file);
    return absl::OkStatus();
  }

  const Context& context_;
  const RunOptions& options_;
  std::vector<std::string> labels_;
  Json json_ = Json::object();
  bool is_as_expected_ = true;
};

}  // namespace

void AddRunCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App& command = AddCommand(app, common, chosen, "run",
                                 "Run a graph on inputs from files, or random",
                                 kExamples, [options](const Context& context) {
                                   return Run(context, *options).Do();
                                 });
  command
      .add_option("GRAPH", options->graph,
                  "An ONNX file, or a graph id or its beginning")
      ->required();
  CLI::Option* const input = AddRequestOptions(command, options->request);
  command
      .add_option("--expect", options->data_sets,
                  "Folders: run their input_I.pb, compare with output_I.pb")
      ->excludes(input);
  command
      .add_option("--rtol", options->tolerance.rtol,
                  "Of --expect: allowed difference, relative")
      ->capture_default_str();
  command
      .add_option("--atol", options->tolerance.atol,
                  "Of --expect: allowed difference, absolute")
      ->capture_default_str();
  command
      .add_option("--top", options->top,
                  "Print so many of the largest along the last axis")
      ->check(CLI::PositiveNumber);
  command.add_option("--labels", options->labels,
                     "A file with a name for each class, one a line");
  command.add_option("--output-dir", options->output_dir,
                     "Write each output to NAME.npy in this folder");
  command
      .add_option("--repeat", options->repeat,
                  "Call so often, and tell the latencies")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_flag("--trace", options->trace,
                   "Show the launches of the (last) run");
  command.add_option("--trace-file", options->trace_file,
                     "Write the (last) run's trace to this file, for "
                     "ui.perfetto.dev");
}

}  // namespace tensord::ctl
