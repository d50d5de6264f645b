#ifndef TENSORD_ENGINE_COMPILED_COMPILED_NODE_H_
#define TENSORD_ENGINE_COMPILED_COMPILED_NODE_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/api/backend.h"
#include "backends/api/completion.h"
#include "backends/api/kernel.h"
#include "engine/compiled/kernel_binding_table.h"
#include "engine/compiled/kernel_choice.h"
#include "engine/compiled/no_backend_for_op.h"
#include "engine/profile/shard.h"

namespace tensord {

// A node plus everything that dispatch needs: its resolved kernel function
// pointer, its capabilities, its parameters and its estimated time. The kernel
// is recorded here when it is chosen and never derived again.
//
// Threading: immutable once its graph is prepared; any number of lanes run it.
// Ownership: owns its parameters and kernel state; borrows the kernel's row,
//   which lives as long as its backend.
struct CompiledNode {
  OpKind op = OpKind::kIdentity;
  DTypeList dtypes;  // inputs in order, then outputs
  int input_count = 0;
  BackendId backend{};
  absl::Status (*kernel)(const KernelCall&) = nullptr;
  KernelCaps caps;
  OpParams params;
  Precision precision = Precision::kStrict;  // that the kernel may use
  double estimated_ns = 0;

  // Which kernel that is: null for a view, which launches nothing.
  const KernelEntry* entry = nullptr;
  uint64_t revision_hash = 0;
  op_profile::LaunchSite
      site;  // whom op_profile charges, and for how many bytes

  // What the kernel's `prepare` made; set while the graph is prepared.
  std::unique_ptr<KernelState> state;

  DType output_dtype() const { return dtypes.back(); }
};

// What CompileNode may know beyond the triple. Everything is optional; with
// less known, `accepts` judges by less.
struct NodeKnowledge {
  absl::Span<const Layout> layouts;                   // parallel to dtypes
  absl::Span<const std::byte* const> host_constants;  // per input
  const DeviceInfo* device = nullptr;                 // for estimated_ns
  // Kernels that cannot promise the same bytes on every run decline.
  bool require_deterministic = false;
  // How far products of float32 may be rounded.
  Precision precision = Precision::kStrict;
  // Kernels that need more scratch memory decline.
  uint64_t max_workspace_bytes = std::numeric_limits<uint64_t>::max();

  // What was measured on `device`; null: nothing. A kernel that was found to be
  // the fastest is chosen where it accepts, but for deterministic graphs, whose
  // results must not depend on what was measured when.
  const KernelChoice* measured = nullptr;

  // Filled with every sibling that was passed over and why, also on success.
  std::vector<NoBackendForOp::Declined>* declined = nullptr;
};

// Resolves the kernel of one node: the sibling of (op, dtypes, backend) that
// was measured to be the fastest, else the first that accepts it. `dtypes`
// lists the inputs (kUndefined for an absent one), then the outputs. Pure: no
// device is touched, nothing is allocated there. Errors: kUnimplemented with
// NoBackendForOp when there is none.
absl::StatusOr<CompiledNode> CompileNode(OpKind op, DTypeList dtypes,
                                         int input_count, BackendId backend,
                                         OpParams params,
                                         const KernelBindingTable& table,
                                         const NodeKnowledge& knowledge = {});

// The kernel that CompileNode would choose, without the node; null for none.
const KernelEntry* ChooseKernel(const NodeSite& site, BackendId backend,
                                const KernelBindingTable& table,
                                const NodeKnowledge& knowledge);

// Runs a compiled node on the context's lane. Outputs were allocated by the
// caller from shape and dtype; `layouts` is the inputs' followed by the
// outputs'.
//
// The handle says what is true: Ready when the lane is synchronous, Pending
// otherwise; with will_be_waited == false on an asynchronous lane no event is
// recorded and the handle is Submitted.
//
// Threading: one thread at a time for one lane.
// Errors: the kernel's own; kInvalidArgument when a layout is not contiguous
// and
//   the kernel does not walk strides (the compiler plans a copy for those).
absl::StatusOr<CompletionHandle> ExecuteCompiledWithWaitHint(
    const LaunchContext& context, const CompiledNode& node,
    absl::Span<const StorageView> inputs, absl::Span<const StorageView> outputs,
    absl::Span<const Layout> layouts, bool will_be_waited);

// The same, and somebody will wait.
absl::StatusOr<CompletionHandle> ExecuteCompiled(
    const LaunchContext& context, const CompiledNode& node,
    absl::Span<const StorageView> inputs, absl::Span<const StorageView> outputs,
    absl::Span<const Layout> layouts);

// The identity of the kernel that is bound. `kernel_source` is the file that
// holds it, or "library:name"; the hash covers that file and the project
// headers that it includes.
struct KernelIdent {
  absl::string_view kernel_source;
  uint64_t kernel_revision_hash = 0;
};

// Nothing for a view or a structural node, which dispatches no kernel.
std::optional<KernelIdent> DispatchedKernelIdent(const CompiledNode& node);

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_COMPILED_NODE_H_
