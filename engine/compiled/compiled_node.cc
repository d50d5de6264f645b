#include "engine/compiled/compiled_node.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "engine/compiled/launch.h"

namespace tensord {
namespace {

// What is known of a machine that no device was named for: placement must never
// take an unknown cost for a free one.
const DeviceInfo& TypicalDevice() {
  static const DeviceInfo info{};
  return info;
}

uint64_t OperandBytes(const NodeSite& site) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < site.layouts.size(); ++i) {
    bytes += ByteSize(site.dtypes[i], site.layouts[i].shape.element_count());
  }
  return bytes;
}

double EstimateNs(const KernelEntry& entry, const NodeSite& site,
                  uint64_t operand_bytes, const DeviceInfo& device) {
  KernelCost cost{.flops = 0, .bytes = static_cast<double>(operand_bytes)};
  if (entry.cost != nullptr && !site.layouts.empty()) cost = entry.cost(site);
  return device.launch_overhead_ns +
         std::max(cost.flops / (device.flops_per_ns * cost.efficiency),
                  cost.bytes / device.bytes_per_ns);
}

absl::Status Accepts(const KernelEntry& entry, const NodeSite& site,
                     const NodeKnowledge& knowledge) {
  if (knowledge.require_deterministic && !entry.caps.is_deterministic) {
    return absl::UnimplementedError(
        "it does not give the same bytes on every run");
  }
  if (absl::Status status = KernelAccepts(entry, site); !status.ok()) {
    return status;
  }
  if (entry.workspace_bytes == nullptr ||
      knowledge.max_workspace_bytes == std::numeric_limits<uint64_t>::max()) {
    return absl::OkStatus();
  }
  const uint64_t workspace_bytes = entry.workspace_bytes(site);
  if (workspace_bytes <= knowledge.max_workspace_bytes) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "it needs ", workspace_bytes, " bytes of scratch memory, planned were ",
      knowledge.max_workspace_bytes));
}

// Null unless the kernel that they speak for is still there and accepts.
std::shared_ptr<const MeasuredSite> FindMeasured(
    const NodeSite& site, absl::Span<const KernelBinding> siblings,
    const NodeKnowledge& knowledge) {
  if (knowledge.measured == nullptr || knowledge.device == nullptr ||
      knowledge.require_deterministic || siblings.size() < 2) {
    return nullptr;
  }
  std::shared_ptr<const MeasuredSite> measured =
      knowledge.measured->Find(site, *knowledge.device);
  if (measured == nullptr) return nullptr;
  for (const KernelBinding& binding : siblings) {
    if (measured->best().kernel != binding.entry->name) continue;
    if (Accepts(*binding.entry, site, knowledge).ok()) return measured;
  }
  return nullptr;
}

// The chosen one of `siblings`, null for none; `declined` gets those before it.
const KernelBinding* Choose(const NodeSite& site,
                            absl::Span<const KernelBinding> siblings,
                            const NodeKnowledge& knowledge,
                            std::vector<NoBackendForOp::Declined>& declined) {
  const std::shared_ptr<const MeasuredSite> measured =
      FindMeasured(site, siblings, knowledge);
  for (const KernelBinding& binding : siblings) {
    absl::Status status = Accepts(*binding.entry, site, knowledge);
    if (status.ok() && measured != nullptr) {
      status = measured->Judge(binding.entry->name);
    }
    if (status.ok()) return &binding;
    declined.push_back(
        {binding.backend, binding.entry->name, std::string(status.message())});
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<CompiledNode> CompileNode(OpKind op, DTypeList dtypes,
                                         int input_count, BackendId backend,
                                         OpParams params,
                                         const KernelBindingTable& table,
                                         const NodeKnowledge& knowledge) {
  const NodeSite site{.op = op,
                      .dtypes = dtypes,
                      .input_count = input_count,
                      .layouts = knowledge.layouts,
                      .host_constants = knowledge.host_constants,
                      .params = params,
                      .precision = knowledge.precision};
  std::vector<NoBackendForOp::Declined> declined;
  const std::vector<KernelBinding> siblings =
      table.Siblings(op, dtypes, input_count, backend);
  const KernelBinding* chosen = Choose(site, siblings, knowledge, declined);
  if (chosen == nullptr) {
    NoBackendForOp detail = table.Diagnose(op, dtypes, input_count, backend);
    if (declined.size() > NoBackendForOp::kMaxRows) {
      declined.resize(NoBackendForOp::kMaxRows);
      detail.is_truncated = true;
    }
    detail.declined = std::move(declined);
    return detail.ToStatus();
  }

  CompiledNode node;
  node.op = op;
  node.input_count = input_count;
  node.backend = backend;
  node.entry = chosen->entry;
  node.kernel = chosen->entry->run;
  node.caps = chosen->entry->caps;
  node.revision_hash = chosen->revision_hash;
  node.site.bytes = OperandBytes(site);
  node.estimated_ns = EstimateNs(
      *chosen->entry, site, node.site.bytes,
      knowledge.device != nullptr ? *knowledge.device : TypicalDevice());
  node.params = std::move(params);
  node.precision = knowledge.precision;
  node.dtypes = std::move(dtypes);
  if (knowledge.declined != nullptr) *knowledge.declined = std::move(declined);
  return node;
}

const KernelEntry* ChooseKernel(const NodeSite& site, BackendId backend,
                                const KernelBindingTable& table,
                                const NodeKnowledge& knowledge) {
  std::vector<NoBackendForOp::Declined> declined;
  const std::vector<KernelBinding> siblings =
      table.Siblings(site.op, site.dtypes, site.input_count, backend);
  const KernelBinding* chosen = Choose(site, siblings, knowledge, declined);
  return chosen == nullptr ? nullptr : chosen->entry;
}

absl::StatusOr<CompletionHandle> ExecuteCompiledWithWaitHint(
    const LaunchContext& context, const CompiledNode& node,
    absl::Span<const StorageView> inputs, absl::Span<const StorageView> outputs,
    absl::Span<const Layout> layouts, bool will_be_waited) {
  return internal::ExecuteCompiledAs<op_profile::CompiledIn>(
      context, node, inputs, outputs, layouts, will_be_waited);
}

absl::StatusOr<CompletionHandle> ExecuteCompiled(
    const LaunchContext& context, const CompiledNode& node,
    absl::Span<const StorageView> inputs, absl::Span<const StorageView> outputs,
    absl::Span<const Layout> layouts) {
  return ExecuteCompiledWithWaitHint(context, node, inputs, outputs, layouts,
                                     /*will_be_waited=*/true);
}

namespace internal {

absl::Status RefuseLayout(const CompiledNode& node, size_t operand) {
  const auto input_count = static_cast<size_t>(node.input_count);
  return absl::InvalidArgumentError(absl::StrCat(
      operand < input_count ? "input " : "output ",
      operand < input_count ? operand : operand - input_count, " of ",
      OpKindName(node.op), " is not contiguous, and kernel ", node.entry->name,
      " does not walk strides"));
}

}  // namespace internal

std::optional<KernelIdent> DispatchedKernelIdent(const CompiledNode& node) {
  if (node.entry == nullptr) return std::nullopt;
  return KernelIdent{node.entry->source, node.revision_hash};
}

}  // namespace tensord
