#include "tools/tensordctl/explain_text.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/tensordctl/table.h"
#include "tools/tensordctl/type_text.h"
#include "tools/tensordctl/units.h"

namespace tensord::ctl {
namespace {

std::string OutputsText(const v1::ExplainedNode& node) {
  return absl::StrJoin(node.outputs(), " ",
                       [](std::string* out, const v1::ExplainedValue& value) {
                         if (value.place() == v1::ExplainedValue::PLACE_ABSENT)
                           return;
                         absl::StrAppend(out, DTypeText(value.dtype()),
                                         value.is_bound() ? "<=" : "",
                                         DimsText(value.dims()));
                       });
}

// Where the first output is: "arena+4096", "output", or the value that it
// shares memory with.
std::string PlaceText(const v1::ExplainedNode& node) {
  if (node.outputs().empty()) return "-";
  const v1::ExplainedValue& value = node.outputs(0);
  if (!value.alias_of().empty()) return absl::StrCat("=", value.alias_of());
  switch (value.place()) {
    case v1::ExplainedValue::PLACE_ARENA:
      return absl::StrCat("arena+", value.arena_offset());
    case v1::ExplainedValue::PLACE_OUTPUT:
      return "output";
    case v1::ExplainedValue::PLACE_INPUT:
      return "input";
    case v1::ExplainedValue::PLACE_WEIGHT:
      return "weight";
    default:
      return "-";
  }
}

std::string MeasuredText(const v1::ExplainedNode& node) {
  if (node.has_measured_device_ns()) {
    return FormatNs(static_cast<double>(node.measured_device_ns()));
  }
  if (node.has_measured_host_ns()) {
    return FormatNs(static_cast<double>(node.measured_host_ns()));
  }
  return "-";
}

void PrintHead(const Console& console,
               const v1::ExplainGraphResponse& explained) {
  const v1::CompiledGraphInfo& compiled = explained.compiled();
  const v1::MemorySummary& memory = compiled.memory();
  console.out << "device     " << compiled.device() << ", "
              << compiled.node_count() << " nodes in "
              << compiled.segment_count() << " segment"
              << (compiled.segment_count() == 1 ? "" : "s");
  if (compiled.has_estimated_ns()) {
    console.out << ", estimated "
                << FormatNs(static_cast<double>(compiled.estimated_ns()));
  }
  console.out << "\nmemory     peak " << FormatBytes(memory.peak_bytes())
              << (memory.is_unbounded() ? " and more, by the data" : "")
              << ": arena " << FormatBytes(memory.arena_bytes())
              << " (at least " << FormatBytes(memory.arena_lower_bound_bytes())
              << "), inputs and outputs "
              << FormatBytes(memory.peak_bytes() - memory.arena_bytes())
              << "\nweights    " << FormatBytes(memory.weight_bytes())
              << ", shared by graphs\n";
}

void PrintNodes(const Console& console,
                const v1::ExplainGraphResponse& explained, bool verbose) {
  std::vector<Column> columns = {
      {"#", Align::kRight},
      {"OP"},
      {.title = "NODE", .may_be_cut = true},
      {"KERNEL"},
      {.title = "DEVICE", .only_if_used = true},
      {.title = "OUTPUT", .may_be_cut = true},
      {.title = "WORKSPACE", .align = Align::kRight, .only_if_used = true},
      {.title = "ESTIMATED", .align = Align::kRight, .only_if_used = true},
      {.title = "MEASURED", .align = Align::kRight, .only_if_used = true}};
  if (verbose) {
    columns.push_back({"PLACE"});
    columns.push_back({"SOURCE"});
    columns.push_back({"REVISION"});
  }
  Table table(std::move(columns));
  for (const v1::ExplainedNode& node : explained.nodes()) {
    std::vector<std::string> cells = {
        absl::StrCat(node.index()), node.op(),
        node.fused_from_size() > 1
            ? absl::StrCat(node.name(), " +", node.fused_from_size() - 1)
            : node.name(),
        node.kernel().empty() ? "view" : node.kernel(),
        // The head has it already if there is only one.
        node.device() == explained.compiled().device() ? "-" : node.device(),
        OutputsText(node),
        node.workspace_bytes() == 0 ? "-" : FormatBytes(node.workspace_bytes()),
        node.has_estimated_ns()
            ? FormatNs(static_cast<double>(node.estimated_ns()))
            : "-",
        MeasuredText(node)};
    if (verbose) {
      cells.push_back(PlaceText(node));
      cells.push_back(node.kernel_source());
      cells.push_back(node.kernel_revision_hash());
    }
    table.AddRow(std::move(cells));
  }
  table.Print(console);
}

void PrintTransfers(const Console& console,
                    const v1::ExplainGraphResponse& explained) {
  for (const v1::ExplainedTransfer& transfer : explained.transfers()) {
    console.out << "transfer   " << Printable(transfer.value()) << " "
                << transfer.from_device() << " -> " << transfer.to_device()
                << ", " << FormatBytes(transfer.size_bytes())
                << ", before node " << transfer.before_node_index() << "\n";
  }
}

void PrintDeclined(const Console& console,
                   const v1::ExplainGraphResponse& explained) {
  Table table({{"#", Align::kRight},
               {"DECLINED"},
               {"BACKEND"},
               {"REASON", Align::kLeft, true}});
  for (const v1::ExplainedNode& node : explained.nodes()) {
    for (const v1::DeclinedCandidate& candidate : node.declined()) {
      table.AddRow({absl::StrCat(node.index()), candidate.kernel(),
                    candidate.backend(), candidate.reason()});
    }
  }
  if (table.is_empty()) return;
  console.out << "\n";
  table.Print(console);
}

void PrintPasses(const Console& console,
                 const v1::ExplainGraphResponse& explained) {
  Table table({{"PASS"},
               {"NODES"},
               {"TIME", Align::kRight},
               {"DID", Align::kLeft, true}});
  for (const v1::ExplainedPass& pass : explained.passes()) {
    const std::string notes = absl::StrJoin(pass.notes(), "; ");
    table.AddRow(
        {absl::StrCat(pass.name(), pass.is_optional() ? "" : " *"),
         pass.has_nodes_before() && pass.has_nodes_after()
             ? absl::StrCat(pass.nodes_before(), " -> ", pass.nodes_after())
             : "-",
         pass.has_duration_ns()
             ? FormatNs(static_cast<double>(pass.duration_ns()))
             : "-",
         pass.is_disabled() ? "left out on request" : notes},
        pass.is_disabled() ? Tone::kDim : Tone::kPlain);
  }
  if (table.is_empty()) return;
  console.out << "\n";
  table.Print(console);
  console.out << "* cannot be left out\n";
}

}  // namespace

void PrintExplanation(const Console& console,
                      const v1::ExplainGraphResponse& explained, bool verbose) {
  PrintHead(console, explained);
  PrintNodes(console, explained, verbose);
  PrintTransfers(console, explained);
  if (!verbose) return;
  PrintDeclined(console, explained);
  PrintPasses(console, explained);
}

}  // namespace tensord::ctl
