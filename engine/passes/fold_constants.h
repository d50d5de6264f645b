#ifndef TENSORD_ENGINE_PASSES_FOLD_CONSTANTS_H_
#define TENSORD_ENGINE_PASSES_FOLD_CONSTANTS_H_

#include <optional>

#include "backends/api/op_kind.h"
#include "engine/graph/graph.h"
#include "engine/graph/limits.h"
#include "engine/infer/host_evaluator.h"
#include "engine/infer/infer.h"

namespace tensord {

// A copy of the graph in which every node that depends on constants alone is a
// constant. Values keep their ids and types, so `inference` stays right; nodes
// get new ids.
//
// A node stays when it is not pure, when its outputs' shapes are not known,
// when its outputs would bring the bytes that folding has added above
// max_folded_bytes (counted before anything is computed), or when the evaluator
// declines it, or when it is of the kind `kept`. Views share their input's
// bytes and add none.
//
// Threading: pure but for the evaluator. Ownership: shares constant bytes.
Graph FoldConstants(const Graph& graph, const Inference& inference,
                    HostEvaluator& evaluator, const GraphLimits& limits,
                    std::optional<OpKind> kept = std::nullopt);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_FOLD_CONSTANTS_H_
