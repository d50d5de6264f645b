#ifndef TENSORD_ENGINE_COMPILED_GRAPH_COMPILER_H_
#define TENSORD_ENGINE_COMPILED_GRAPH_COMPILER_H_

#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "backends/api/backend.h"
#include "backends/api/precision.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/compiled/growth_observer.h"
#include "engine/compiled/host_companion.h"
#include "engine/compiled/kernel_binding_table.h"
#include "engine/compiled/kernel_choice.h"
#include "engine/compiled/preparation.h"
#include "engine/graph/graph.h"
#include "engine/graph/limits.h"
#include "engine/infer/host_evaluator.h"
#include "engine/infer/infer.h"
#include "engine/memory/weight_store.h"
#include "engine/place/device_rates.h"
#include "engine/profile/op_profile.h"

namespace tensord {

// What a client may choose of a compilation.
// Threading and ownership: a plain value.
struct CompileOptions {
  bool deterministic = false;
  Precision precision = Precision::kStrict;
  std::set<std::string> disabled_passes;  // names as ExplainGraph shows them

  friend bool operator==(const CompileOptions&,
                         const CompileOptions&) = default;
};

// What compilation needs of the process. Borrows everything; it all outlives
// the compiled graphs.
struct CompilerEnvironment {
  GrowthObserver* growth = nullptr;  // null: nobody wants to know
  const KernelBindingTable* table = nullptr;
  op_profile::OpProfile* profile = nullptr;  // null: kernels are not accounted
  // Null: kernels are chosen by the order of the table alone. Thread-safe.
  const KernelChoice* measured = nullptr;
  // Null: nothing is folded. Used by compiler and lane threads at once, so it
  // must be thread-safe (SharedEvaluator).
  HostEvaluator* evaluator = nullptr;
  // Null: estimates go by what a device says of itself.
  const DeviceRates* rates = nullptr;
  // Null: a graph with a node that its device has no kernel for is refused.
  const HostCompanion* host = nullptr;
  GraphLimits limits;
  uint64_t max_peak_bytes = uint64_t{8} << 30;
  // A launch that is estimated to take longer is refused: its run would be
  // stopped without a result, after its lane had served nobody else so long.
  absl::Duration max_execution_time = absl::InfiniteDuration();

  const DeviceInfo& InfoOf(const Device& device) const {
    return rates != nullptr ? rates->Of(device) : device.info();
  }
  // The host device of graphs for `device`, null for none.
  Device* HostOf(const Device& device) const {
    const bool has_one = host != nullptr && HostCompanion::Helps(device.info());
    return has_one ? host->device : nullptr;
  }
};

// Whether every node of a graph has a kernel on one of `backends`, as far as
// dtypes tell: the check at submission, before any shape is known. `backends`
// is the device's own and perhaps its host device's. Errors: kUnimplemented
// with NoBackendForOp, of the first node, for the first backend.
absl::Status CheckBindings(const Graph& graph, const Inference& inference,
                           absl::Span<const BackendId> backends,
                           const KernelBindingTable& table);

// A graph compiled for one set of input shapes on one device: inference,
// passes, kernels, memory plan and weights are done; what is left is each
// node's `prepare`, which Prepare() does or a pipelined first run overlaps.
//
// Threading: PlanGraph and PrepareNodes may run on any thread, for many graphs
// at
//   once. `lane` uploads weights; nobody else uses it meanwhile.
// Errors: as inference's and CompileNode's; kResourceExhausted above
//   max_peak_bytes, or for a launch above max_execution_time, with what was
//   asked.
absl::StatusOr<std::shared_ptr<CompiledGraph>> PlanGraph(
    std::shared_ptr<const Graph> graph, absl::Span<const Shape> input_shapes,
    const CompileOptions& options, Device& device, WeightStore& weights,
    Lane& lane, const CompilerEnvironment& environment);

// What one run takes by estimate: its launches, one after the other, and the
// copies between the two memories of a device that has two.
struct GraphEstimate {
  double launches_ns = 0;
  TransferTotals transfers;
};

// The same for another device than the one that the graph is compiled for: its
// own passes and kernels, no memory. Nothing for a graph that is planned while
// it runs. Errors: as PlanGraph's.
absl::StatusOr<std::optional<GraphEstimate>> EstimateGraph(
    std::shared_ptr<const Graph> graph, absl::Span<const Shape> input_shapes,
    const CompileOptions& options, Device& device,
    const CompilerEnvironment& environment);

// Prepares every node of the first segment in order and publishes each to the
// channel; adds their states to the footprint. Fails the channel, and returns
// that status, at the first that fails, or with kResourceExhausted at the one
// with which the states take more than `max_state_bytes`.
absl::Status PrepareNodes(
    CompiledGraph& graph, Device& device, PreparationChannel& channel,
    uint64_t max_state_bytes = std::numeric_limits<uint64_t>::max());

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_GRAPH_COMPILER_H_
