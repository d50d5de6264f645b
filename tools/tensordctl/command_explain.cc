#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/tensordctl/command.h"
#include "tools/tensordctl/explain_text.h"
#include "tools/tensordctl/graph_name.h"
#include "tools/tensordctl/proto_json.h"
#include "tools/tensordctl/shapes.h"

namespace tensord::ctl {
namespace {

constexpr char kExamples[] =
    "  tensordctl explain model.onnx --set N=1\n"
    "  tensordctl explain 3fa96c12 --set N=8 --device cpu:0 -v\n";

struct ExplainOptions {
  std::string graph;
  std::vector<std::string> symbols;
  std::string device;
  bool deterministic = false;
};

absl::StatusOr<ExitCode> Explain(const Context& context,
                                 const ExplainOptions& options) {
  const auto symbols = ParseSymbols(options.symbols);
  if (!symbols.ok()) return symbols.status();
  auto client = context.Connect();
  if (!client.ok()) return client.status();
  const auto graph = FindGraph(*client, options.graph, {});
  if (!graph.ok()) return graph.status();
  const absl::Status known = CheckSymbols(*symbols, *graph);
  if (!known.ok()) return known;

  v1::ExplainGraphRequest request;
  request.set_graph_id(graph->graph_id());
  request.mutable_shapes()->mutable_symbols()->insert(symbols->begin(),
                                                      symbols->end());
  request.set_device(options.device);
  request.set_deterministic(options.deterministic);
  const auto explained = client->ExplainGraph(request);
  if (!explained.ok()) return explained.status();
  if (context.options.json) {
    context.PrintJson(JsonOfMessage(*explained));
  } else {
    context.console.out << "graph      " << graph->graph_id() << "\n";
    PrintExplanation(context.console, *explained, context.options.verbose);
  }
  return ExitCode::kOk;
}

}  // namespace

void AddExplainCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto options = std::make_shared<ExplainOptions>();
  CLI::App& command = AddCommand(
      app, common, chosen, "explain",
      "Tell how a graph runs: kernels, memory, times", kExamples,
      [options](const Context& context) { return Explain(context, *options); });
  command
      .add_option("GRAPH", options->graph,
                  "A graph id or its beginning, or an ONNX file")
      ->required();
  command
      .add_option("--set", options->symbols,
                  "Extent of a symbolic dimension: N=5")
      ->allow_extra_args(false);
  command.add_option("--device", options->device,
                     "For this device or backend: cpu:0, cpu");
  command.add_flag("--deterministic", options->deterministic,
                   "With deterministic kernels alone");
}

}  // namespace tensord::ctl
