#ifndef TENSORD_BACKENDS_NULL_NULL_KERNELS_H_
#define TENSORD_BACKENDS_NULL_NULL_KERNELS_H_

#include "absl/types/span.h"
#include "backends/api/kernel.h"

namespace tensord {

// One row for each op kind, all with the same functions. Constant data.
absl::Span<const KernelEntry> NullKernels();

}  // namespace tensord

#endif  // TENSORD_BACKENDS_NULL_NULL_KERNELS_H_
