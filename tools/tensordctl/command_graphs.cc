#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tools/tensordctl/command.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/graph_name.h"
#include "tools/tensordctl/graph_text.h"
#include "tools/tensordctl/proto_json.h"
#include "tools/tensordctl/table.h"
#include "tools/tensordctl/units.h"

namespace tensord::ctl {
namespace {

constexpr char kExamples[] =
    "  tensordctl graphs\n"
    "  tensordctl graphs get 3fa96c12\n"
    "  tensordctl graphs delete 3fa96c12\n";

struct GraphsOptions {
  std::string action = "list";
  std::string name;
};

std::string Age(const google::protobuf::Timestamp& time) {
  const absl::Duration age =
      absl::Now() - absl::FromUnixSeconds(time.seconds());
  if (age < absl::Seconds(1)) return "now";
  return absl::StrCat(
      absl::FormatDuration(absl::Trunc(
          age, age < absl::Minutes(2) ? absl::Seconds(1) : absl::Minutes(1))),
      " ago");
}

absl::StatusOr<ExitCode> List(const Context& context, Client& client) {
  const auto graphs = client.ListGraphs();
  if (!graphs.ok()) return graphs.status();
  if (context.options.json) {
    auto json = nlohmann::ordered_json::array();
    for (const v1::GraphInfo& graph : *graphs) {
      json.push_back(JsonOfMessage(graph));
    }
    context.PrintJson({{"graphs", std::move(json)}});
    return ExitCode::kOk;
  }
  Table table({{"GRAPH"},
               {"NAME", Align::kLeft, true},
               {"NODES", Align::kRight},
               {"CONSTANTS", Align::kRight},
               {"RUNS", Align::kRight},
               {"LAST USE"}});
  for (const v1::GraphInfo& graph : *graphs) {
    table.AddRow(
        {context.options.verbose ? graph.graph_id() : ShortId(graph.graph_id()),
         graph.name(), absl::StrCat(graph.node_count()),
         FormatBytes(graph.constant_bytes()),
         absl::StrCat(graph.execution_count()), Age(graph.last_use_time())});
  }
  table.Print(context.console);
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> Get(const Context& context, Client& client,
                             const std::string& name) {
  const auto graph = FindHeldGraph(client, name);
  if (!graph.ok()) return graph.status();
  if (context.options.json) {
    context.PrintJson(JsonOfMessage(*graph));
    return ExitCode::kOk;
  }
  PrintGraph(context.console, *graph);
  for (const v1::CompiledGraphInfo& compiled : graph->compiled()) {
    context.console.out << "compiled   for " << compiled.device() << ", "
                        << compiled.node_count() << " nodes, peak "
                        << FormatBytes(compiled.memory().peak_bytes()) << ", "
                        << compiled.execution_count() << " runs\n";
  }
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> Delete(const Context& context, Client& client,
                                const std::string& name) {
  const auto graph = FindHeldGraph(client, name);
  if (!graph.ok()) return graph.status();
  const absl::Status status = client.DeleteGraph(graph->graph_id());
  if (!status.ok()) return status;
  if (context.options.json) {
    context.PrintJson({{"deleted", graph->graph_id()}});
  } else {
    context.console.out << "deleted    " << graph->graph_id() << "\n";
  }
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> Graphs(const Context& context,
                                const GraphsOptions& options) {
  if ((options.action == "list") != options.name.empty()) {
    return LocalError(options.name.empty()
                          ? options.action + " needs a graph id"
                          : "list takes no graph id");
  }
  auto client = context.Connect();
  if (!client.ok()) return client.status();
  if (options.action == "get") return Get(context, *client, options.name);
  if (options.action == "delete") {
    return Delete(context, *client, options.name);
  }
  return List(context, *client);
}

}  // namespace

void AddGraphsCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto options = std::make_shared<GraphsOptions>();
  CLI::App& command = AddCommand(
      app, common, chosen, "graphs", "List, show or delete the graphs you hold",
      kExamples,
      [options](const Context& context) { return Graphs(context, *options); });
  command.add_option("ACTION", options->action, "list, get or delete")
      ->check(CLI::IsMember({"list", "get", "delete"}))
      ->capture_default_str();
  command.add_option("GRAPH", options->name, "A graph id, or its beginning");
}

}  // namespace tensord::ctl
