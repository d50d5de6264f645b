#ifndef TENSORD_ENGINE_FLOW_FLOW_PROGRAM_H_
#define TENSORD_ENGINE_FLOW_FLOW_PROGRAM_H_

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "engine/compiled/graph_compiler.h"
#include "engine/exec/compiled_run.h"
#include "engine/flow/flow_value.h"
#include "engine/flow/kept_stages.h"
#include "engine/flow/stage.h"

namespace tensord {

// What a run of a graph with control flow carries through its stages and
// bodies. Borrows everything but the budget; the lane's thread.
struct FlowRun {
  LaneSlot& slot;
  BufferPool& buffers;
  RunLimits limits;
  PhaseTimes& phase_ns;
  op_profile::Shard* shard = nullptr;
  op_profile::Shard* host_shard = nullptr;  // for steps on the host
  op_profile::TraceBuffer* trace = nullptr;
  std::shared_ptr<FlowBudget> budget;
  bool* lane_is_busy = nullptr;

  // A tensor of these bytes' size, charged to the budget, for the caller to
  // fill.
  absl::StatusOr<HostValue> Allocate(DType dtype, const Shape& shape);
  std::shared_ptr<FlowTensor> Keep(HostValue value) {
    return std::make_shared<FlowTensor>(std::move(value), budget);
  }
};

// A graph whose shapes or whose path follow from the data: If, Loop, Scan,
// sequences, and operators with computed arguments. It is run in stages: as
// many nodes as have known shapes are planned and run like a graph of their
// own, what they computed decides the next stage, and control flow runs between
// two stages, on the host, with bodies that are programs in turn.
//
// Stages are compiled when they are first met and kept by the shapes (and the
// consulted contents) that decided them, the last kMaxVariants of each place,
// so a steady state of few shapes plans nothing; see KeptStages.
//
// Threading: Run may be called from many lanes at once.
// Ownership: shares the graph; borrows device, weights and environment, which
//   outlive it.
class FlowProgram {
 public:
  FlowProgram(std::shared_ptr<const Graph> graph, CompileOptions options,
              Device& device, WeightStore& weights,
              const CompilerEnvironment& environment,
              std::shared_ptr<KeptStages> kept = nullptr);

  // `inputs` in the order of graph.inputs. Outputs in the order of
  // graph.outputs.
  // Errors: those of inference, planning and running a stage, with the node's
  //   name; kResourceExhausted above the budget; kDeadlineExceeded, kCancelled.
  absl::StatusOr<std::vector<FlowValue>> Run(FlowRun& run,
                                             std::vector<FlowValue> inputs);

  // The types of the outputs for inputs of these types, without a run: what
  // inference knows, else what is declared.
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> input_types) const;

  const Graph& graph() const { return *graph_; }
  // Host bytes of the stages that are kept now, those of bodies included.
  uint64_t kept_bytes() const { return kept_->used(); }
  // What one run's values between stages may take together.
  uint64_t max_bytes() const { return environment_.max_peak_bytes; }
  // The program of a node's body; made when first asked for.
  FlowProgram& Body(NodeId node, int index);

 private:
  struct State;

  // A stage for one set of shapes and consulted contents, compiled.
  struct Variant {
    // A value that pending nodes read, as it was: its kind is part of the
    // match, since one path may give a tensor where another gives none.
    struct Seen {
      ValueId value = kNoValue;
      bool is_tensor = false;
      bool is_sequence = false;
      TensorType type;  // of a tensor
    };

    bool Matches(absl::Span<const FlowValue> values) const;

    std::vector<Seen> relevant;
    std::vector<std::pair<ValueId, HostTensor>> contents;
    Stage stage;
    std::shared_ptr<const CompiledGraph> compiled;  // null without a stage
    std::vector<NodeId> flow_nodes;  // to be run after it, in order
    std::shared_ptr<State> next;
    std::shared_ptr<const void> kept;  // its share of KeptStages
  };

  // Where a run can be: which nodes are done says which values are there.
  struct State {
    static constexpr size_t kMaxVariants = 16;

    std::vector<bool> is_done;
    std::vector<bool> is_pending;
    std::vector<ValueId> relevant;  // values that pending nodes read
    absl::Mutex mu;
    std::list<std::shared_ptr<const Variant>> variants ABSL_GUARDED_BY(mu);
  };

  static std::shared_ptr<const Variant> Lookup(
      State& state, absl::Span<const FlowValue> values);
  std::shared_ptr<State> MakeState(std::vector<bool> is_done) const;
  absl::StatusOr<std::shared_ptr<const Variant>> FindVariant(
      State& state, absl::Span<const FlowValue> values, FlowRun& run);
  absl::StatusOr<std::shared_ptr<Variant>> MakeVariant(
      const State& state, absl::Span<const FlowValue> values, FlowRun& run);
  static uint64_t FootprintOf(const Variant& variant);
  std::vector<NodeId> ReadyFlowNodes(const State& state,
                                     const std::vector<bool>& is_done,
                                     absl::Span<const FlowValue> values) const;
  absl::Status RunStage(const std::shared_ptr<const Variant>& variant,
                        FlowRun& run, std::vector<FlowValue>& values) const;
  absl::Status RunFlowNode(NodeId node, FlowRun& run,
                           std::vector<FlowValue>& values);
  absl::StatusOr<FlowValue> ConstantValue(const HostTensor& tensor,
                                          FlowRun& run) const;

  const std::shared_ptr<const Graph> graph_;
  const CompileOptions options_;
  Device& device_;
  WeightStore& weights_;
  const CompilerEnvironment environment_;
  const std::shared_ptr<KeptStages> kept_;
  const std::shared_ptr<State> start_;

  absl::Mutex mu_;
  absl::flat_hash_map<std::pair<NodeId, int>, std::unique_ptr<FlowProgram>>
      bodies_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_FLOW_FLOW_PROGRAM_H_
