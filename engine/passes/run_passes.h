#ifndef TENSORD_ENGINE_PASSES_RUN_PASSES_H_
#define TENSORD_ENGINE_PASSES_RUN_PASSES_H_

#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/graph/graph.h"
#include "engine/graph/limits.h"
#include "engine/infer/host_evaluator.h"
#include "engine/infer/infer.h"
#include "engine/passes/channels_last.h"
#include "engine/passes/pass_context.h"

namespace tensord {

// What the passes over a graph need. Borrows everything.
struct PassRequest {
  const std::set<std::string>& disabled;  // of kOptionalPasses
  HostEvaluator* evaluator;               // null: nothing is folded
  const GraphLimits& limits;
  FindKernel find_kernel;
  EstimateNode estimate;
  // The types of a changed graph.
  absl::FunctionRef<absl::StatusOr<Inference>(const Graph&)> infer;
};

// A graph on its way through the passes, and what they did.
struct PassResult {
  struct Note {
    absl::string_view pass;
    std::string effect;  // "left 7 of 9 nodes"
  };
  Graph graph;
  Inference inference;
  std::vector<Note> notes;
};

// All passes in their order, those that are disabled left out. `inference` is
// the graph's, of concrete input shapes, with nothing open.
// Threading: as the evaluator's. Errors: those of `infer` alone.
absl::StatusOr<PassResult> RunPasses(const Graph& graph, Inference inference,
                                     const PassRequest& request);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_RUN_PASSES_H_
