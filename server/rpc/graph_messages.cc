#include "server/rpc/graph_messages.h"

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tensord {
namespace {

// As in the API: "at most 100 notes".
constexpr size_t kMaxNotes = 100;

void FillValueInfo(const std::string& name, const TensorType& type,
                   const SymbolTable& symbols, v1::ValueInfo& info) {
  info.set_name(name);
  info.set_dtype(static_cast<v1::DType>(type.dtype));
  info.set_kind(v1::VALUE_KIND_TENSOR);
  if (!type.shape.has_value()) {
    info.set_rank_unknown(true);
    return;
  }
  for (const Dim dim : *type.shape) {
    v1::Dim& message = *info.add_dims();
    if (dim.is_known()) {
      message.set_size(dim.extent());
      continue;
    }
    message.set_symbol(symbols.ToString(dim));
    const int64_t bound = symbols.upper_bound(dim.symbol());
    if (bound != SymbolTable::kUnbounded) message.set_max_size(bound);
  }
}

// "[2, 3]" as numbers; extents that are no numbers are left out.
void FillDims(absl::string_view shape, v1::ExplainedValue& value) {
  shape = absl::StripSuffix(absl::StripPrefix(shape, "["), "]");
  for (absl::string_view part :
       absl::StrSplit(shape, ", ", absl::SkipEmpty())) {
    int64_t extent;
    if (absl::SimpleAtoi(part, &extent)) value.add_dims(extent);
  }
}

}  // namespace

void FillGraphInfo(const LoadedGraph& loaded, const GraphFacts* facts,
                   v1::GraphInfo& info) {
  const Graph& graph = *loaded.graph();
  const Inference& inference = loaded.inference();
  info.set_graph_id(loaded.id());
  info.set_name(graph.name);
  for (ValueId id : graph.inputs) {
    FillValueInfo(graph.value(id).name, inference.types[id], inference.symbols,
                  *info.add_inputs());
  }
  for (ValueId id : graph.outputs) {
    FillValueInfo(graph.value(id).name, inference.types[id], inference.symbols,
                  *info.add_outputs());
  }
  info.set_node_count(static_cast<int64_t>(graph.nodes.size()));
  info.set_constant_bytes(static_cast<int64_t>(graph.constant_bytes()));
  info.set_received_bytes(static_cast<int64_t>(loaded.source_bytes()));
  FillTime(loaded.created(), *info.mutable_create_time());
  if (facts == nullptr) return;
  info.set_format(facts->format);
  info.set_opset_version(facts->opset_version);
  *info.mutable_options() = facts->options;
  info.set_execution_count(facts->execution_count);
  if (const int64_t last_use = facts->last_use_unix_ns; last_use != 0) {
    FillTime(absl::FromUnixNanos(last_use), *info.mutable_last_use_time());
  }
}

void FillExplanation(const Explanation& explanation,
                     v1::ExplainGraphResponse& response) {
  v1::CompiledGraphInfo& compiled = *response.mutable_compiled();
  compiled.set_device(explanation.device.ToString());
  v1::MemorySummary& memory = *compiled.mutable_memory();
  memory.set_peak_bytes(static_cast<int64_t>(explanation.peak_bytes));
  memory.set_arena_bytes(static_cast<int64_t>(explanation.arena_bytes));
  memory.set_weight_bytes(static_cast<int64_t>(explanation.weight_bytes));
  memory.set_arena_lower_bound_bytes(
      static_cast<int64_t>(explanation.arena_lower_bound_bytes));
  compiled.set_node_count(static_cast<int64_t>(explanation.nodes.size()));
  compiled.set_segment_count(explanation.segment_count);
  double estimated_ns = 0;
  bool is_known = true;
  for (int i = 0; i < explanation.segment_count; ++i) {
    response.add_segments()->set_index(i);
  }
  for (const ExplainedNode& node : explanation.nodes) {
    // A view takes no time; a kernel without an estimate makes the sum unknown.
    is_known &= node.kernel.empty() || node.estimated_ns > 0;
    estimated_ns += node.estimated_ns;
    if (node.segment_index >= 0 &&
        node.segment_index < response.segments_size()) {
      auto* segment = response.mutable_segments(node.segment_index);
      segment->set_node_count(segment->node_count() + 1);
    }
  }
  const std::string device = explanation.device.ToString();
  for (const ExplainedTransfer& transfer : explanation.transfers) {
    estimated_ns += transfer.estimated_ns;
    v1::ExplainedTransfer& message = *response.add_transfers();
    message.set_value(transfer.value);
    message.set_from_device(transfer.is_to_host ? device : "host");
    message.set_to_device(transfer.is_to_host ? "host" : device);
    message.set_size_bytes(static_cast<int64_t>(transfer.size_bytes));
    message.set_estimated_ns(static_cast<int64_t>(transfer.estimated_ns));
    message.set_before_node_index(transfer.before_launch);
  }
  if (is_known) compiled.set_estimated_ns(static_cast<int64_t>(estimated_ns));
  for (const ExplainedPass& pass : explanation.passes) {
    v1::ExplainedPass& message = *response.add_passes();
    message.set_name(pass.name);
    const std::vector<std::string> notes =
        absl::StrSplit(pass.effect, '\n', absl::SkipEmpty());
    for (size_t i = 0; i < std::min(notes.size(), kMaxNotes); ++i) {
      message.add_notes(notes[i]);
    }
    message.set_notes_truncated(notes.size() > kMaxNotes);
  }
}

void FillExplainedNode(const ExplainedNode& node, int64_t index,
                       v1::ExplainedNode& message) {
  message.set_index(index);
  message.set_name(node.name);
  message.set_op(node.op);
  for (const std::string& name : node.fused_from) message.add_fused_from(name);
  if (node.fused_from.empty()) message.add_fused_from(node.name);
  message.set_backend(std::string(BackendName(node.device.backend)));
  message.set_device(node.device.ToString());
  message.set_kernel(node.kernel);
  message.set_kernel_source(node.kernel_source);
  if (node.revision_hash != 0) {
    message.set_kernel_revision_hash(
        absl::StrFormat("%016x", node.revision_hash));
  }
  message.mutable_dtypes()->add_outputs(static_cast<v1::DType>(node.dtype));
  v1::ExplainedValue& output = *message.add_outputs();
  output.set_dtype(static_cast<v1::DType>(node.dtype));
  FillDims(node.output_shape, output);
  output.set_size_bytes(static_cast<int64_t>(node.output_bytes));
  if (node.output_is_in_arena) {
    output.set_place(v1::ExplainedValue::PLACE_ARENA);
    output.set_arena_offset(static_cast<int64_t>(node.arena_offset));
  } else {
    output.set_place(v1::ExplainedValue::PLACE_OUTPUT);
  }
  message.set_workspace_bytes(static_cast<int64_t>(node.workspace_bytes));
  if (node.estimated_ns > 0) {
    message.set_estimated_ns(static_cast<int64_t>(node.estimated_ns));
  }
  message.set_segment_index(node.segment_index);
  for (const NoBackendForOp::Declined& declined : node.declined) {
    v1::DeclinedCandidate& candidate = *message.add_declined();
    candidate.set_kernel(declined.kernel);
    candidate.set_backend(std::string(BackendName(declined.backend)));
    candidate.set_reason(declined.reason);
  }
}

}  // namespace tensord
