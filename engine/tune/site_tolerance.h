#ifndef TENSORD_ENGINE_TUNE_SITE_TOLERANCE_H_
#define TENSORD_ENGINE_TUNE_SITE_TOLERANCE_H_

#include "backends/api/kernel.h"
#include "backends/api/tolerances.h"

namespace tensord {

// What an operator does to rounding errors. Operators that are not known to
// round are kMovement: their results must be equal, so that a forgotten one
// keeps its first kernel instead of getting a wrong one.
OpFamily FamilyOf(OpKind op);

// How far a sibling's output of that dtype may be from the portable one's on
// this node, by the table of tolerances: for the operator, the number of terms
// that it sums up, its epilogue, and the precision that the client allows.
Tolerance SiteTolerance(const NodeSite& site, DType output_dtype);

// Whether SiteTolerance() knows how many terms this operator sums up. Where it
// does not, a right kernel could look wrong, or a wrong one right.
bool HasKnownDepth(OpKind op);

}  // namespace tensord

#endif  // TENSORD_ENGINE_TUNE_SITE_TOLERANCE_H_
