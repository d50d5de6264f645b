#ifndef TENSORD_ENGINE_TUNE_OPERAND_DATA_H_
#define TENSORD_ENGINE_TUNE_OPERAND_DATA_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/api/kernel.h"

namespace tensord {

// Fills input `i` of a node with pseudo-random elements such as a run might
// bring: floating numbers of magnitude 1/64 to 1, of both signs where the
// operator's range has both; 8-bit integers over their whole range; indices
// that are valid along every dimension of what they index. Never all zeros,
// whose products some processors and kernels are faster at.
//
// kUnimplemented where nothing can be made up: dtypes without numbers here, and
// integers that may mean shapes, axes or lengths.
// Threading: pure; the same seed gives the same bytes.
absl::Status FillOperand(const NodeSite& site, int i, uint64_t seed,
                         absl::Span<std::byte> bytes);

}  // namespace tensord

#endif  // TENSORD_ENGINE_TUNE_OPERAND_DATA_H_
