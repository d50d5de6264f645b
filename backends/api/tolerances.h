#ifndef TENSORD_BACKENDS_API_TOLERANCES_H_
#define TENSORD_BACKENDS_API_TOLERANCES_H_

#include <cstdint>

#include "backends/api/dtype.h"

namespace tensord {

// How far a kernel may be from the portable kernel, or from a reference in
// double precision: |actual - expected| <= absolute + relative * |expected|.
// For tests, and for the tuner, which takes no kernel that is further away.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

// What an operator does to rounding errors.
enum class OpFamily {
  kMovement,        // copies, gathers, comparisons, selections: exact
  kArithmetic,      // a few operations an element: +, *, /, sqrt, clip
  kTranscendental,  // exp, tanh, erf, pow and what is made of them
  kReduction,       // sums, means, softmax, normalisations
  kContraction,     // matmul, conv, attention: sums of products
  // The same of float32 factors that are rounded to bfloat16, as
  // Precision::kAllowBf16 allows; sums are float32.
  kRoundedContraction,
  kQuantized,  // rounds to an integer step
};

// The one table of tolerances. `depth` is how many terms one output sums up
// (reductions and contractions): errors of rounding grow with its square root.
// Dtypes of no row (integers, bool) must be equal, but for kQuantized.
Tolerance ToleranceFor(DType dtype, OpFamily family, int64_t depth = 1);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_TOLERANCES_H_
