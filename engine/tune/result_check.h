#ifndef TENSORD_ENGINE_TUNE_RESULT_CHECK_H_
#define TENSORD_ENGINE_TUNE_RESULT_CHECK_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/api/dtype.h"
#include "backends/api/tolerances.h"

namespace tensord {

// OK where every element of `actual` is within the tolerance of `expected`
// (dense arrays of `count` elements); else kOutOfRange with the first that is
// not. The tolerance's absolute part is for results of magnitude about 1, so it
// counts in units of the largest finite magnitude that was expected. A NaN
// matches a NaN, an infinity itself; dtypes without a row, and those narrower
// than a byte, are compared bit by bit.
// Threading: pure.
absl::Status CheckResult(DType dtype, absl::Span<const std::byte> actual,
                         absl::Span<const std::byte> expected,
                         Tolerance tolerance);

}  // namespace tensord

#endif  // TENSORD_ENGINE_TUNE_RESULT_CHECK_H_
