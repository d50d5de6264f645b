#ifndef TENSORD_ENGINE_PASSES_HOIST_VIEWS_H_
#define TENSORD_ENGINE_PASSES_HOIST_VIEWS_H_

#include "engine/passes/graph_editor.h"

namespace tensord {

// Moves views (Reshape, Squeeze, ...) that stand between two element-wise nodes
// above the first of them, so that the two follow each other:
//
//   view(f(a, s)) -> f(view(a), s)
//
// for an a of the result's shape and an s of one element. Views are free, so
// nothing is lost where an f has several such operands. A view stays below a
// node that stands directly behind a product or a convolution: there it can be
// that node's epilogue. Returns how many nodes views were moved over.
int HoistViews(GraphEditor& graph);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_HOIST_VIEWS_H_
