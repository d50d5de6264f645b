#ifndef TENSORD_BACKENDS_CPU_KERNEL_TABLE_H_
#define TENSORD_BACKENDS_CPU_KERNEL_TABLE_H_

#include "absl/types/span.h"
#include "backends/api/kernel.h"

namespace tensord {

// Every kernel of the CPU backend; siblings in order of preference, the
// portable one last. Constant data.
absl::Span<const KernelEntry> CpuKernels();

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNEL_TABLE_H_
