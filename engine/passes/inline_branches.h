#ifndef TENSORD_ENGINE_PASSES_INLINE_BRANCHES_H_
#define TENSORD_ENGINE_PASSES_INLINE_BRANCHES_H_

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "engine/graph/graph.h"
#include "engine/graph/host_tensor.h"
#include "engine/infer/infer.h"

namespace tensord {

// Puts the branch that an If takes in the If's place, so that what stands
// around it and in it is planned as one graph. Exporters decide much by shapes
// ("is there a batch dimension?"), and what they decided so is no control flow
// once the shapes are known.
//
// Threading: pure functions. Ownership: results share constant bytes.

// An If of a graph, and the body that it runs.
struct TakenBranch {
  NodeId node = kNoNode;
  int body = 0;  // 0: then, 1: else
};

// The body that the node runs when its condition is `condition`. Nothing when
// it is no If, or when the If does not fit its condition or its branch: run by
// itself, it says what is wrong.
std::optional<TakenBranch> BranchFor(const Graph& graph, NodeId node,
                                     const HostTensor& condition);

// The branches of all Ifs whose conditions are known before the run, in order.
std::vector<TakenBranch> KnownBranches(const Graph& graph,
                                       const Inference& inference);

// A copy of the graph with these branches, at most one for a node, in order, in
// the place of their Ifs. Values keep their ids; the branches' own come behind
// them, under the If's name and their own. What is inferred from the graph is
// inferred anew, since the symbols of a branch are not the graph's.
struct Inlined {
  Graph graph;
  // By node of `graph`: the node that it was, or, of a branch, its If.
  std::vector<NodeId> origin;
};
Inlined InlineBranches(const Graph& graph, absl::Span<const TakenBranch> taken);

// What an If decides may be what another waits for; each round of inlining is
// followed by another inference. More rounds than bodies may be nested are
// worth nothing to a graph that means well.
inline constexpr int kMaxInliningRounds = 32;

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_INLINE_BRANCHES_H_
