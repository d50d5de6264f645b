#ifndef TENSORD_ENGINE_INFER_INFER_H_
#define TENSORD_ENGINE_INFER_INFER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/graph/graph.h"
#include "engine/graph/limits.h"
#include "engine/infer/host_evaluator.h"

namespace tensord {

// The types of every value of a graph, and the values that are known before a
// run: constants, and small integer tensors that follow from shapes alone.
//
// Threading: a plain value. Ownership: owns everything but shares constant
// bytes.
struct Inference {
  std::vector<TensorType> types;      // by ValueId
  std::vector<HostTensor> constants;  // by ValueId; absent where not known
  SymbolTable symbols;

  // Nodes whose outputs stayed without a shape although their inputs have one:
  // control flow, and rules that need the value of an input (kNoInput for the
  // former). What depends on them is without a shape too. Empty for a graph
  // that can be planned as a whole.
  struct Open {
    static constexpr int kNoInput = -1;
    NodeId node = kNoNode;
    int needed_input = kNoInput;
  };
  std::vector<Open> open;
};

// What is known when a node is to be inferred again for a later segment:
// extents that an earlier segment's run has told, as (dimension, extent).
struct KnownExtents {
  absl::flat_hash_map<ValueId, std::vector<std::pair<int, int64_t>>> extents;
};

// Types for the declared inputs, symbols and all. Nodes whose inputs have no
// known rank stay without a shape. Run when a graph is submitted. Without an
// evaluator only shapes and views of known values are known before the run.
// Errors: kInvalidArgument with the node's name and the numbers, also for an
//   output that is not what the client claims; kResourceExhausted for a tensor
//   above max_elements.
absl::StatusOr<Inference> InferGraph(const Graph& graph,
                                     const GraphLimits& limits,
                                     HostEvaluator* evaluator = nullptr);

// Types for concrete input shapes (in the order of graph.inputs), which must
// fit the declared dims. All extents are known afterwards but those that only
// data can tell; `known` gives the ones that a run has told already.
absl::StatusOr<Inference> InferGraph(const Graph& graph,
                                     absl::Span<const Shape> input_shapes,
                                     const KnownExtents& known,
                                     const GraphLimits& limits,
                                     HostEvaluator* evaluator = nullptr);

// Inference computes a value ahead of the run only when neither it nor any
// input has more elements than this: enough for every shape, axis list and pad
// list of kMaxRank dimensions.
inline constexpr int64_t kMaxInferredElements = 64;

}  // namespace tensord

#endif  // TENSORD_ENGINE_INFER_INFER_H_
