#ifndef TENSORD_BACKENDS_CPU_KERNELS_LINEAR_ALGEBRA_KERNELS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_LINEAR_ALGEBRA_KERNELS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/kernel.h"

// As kernels.h, which says what this is for: operators on matrices as such.
namespace tensord {

// det.cc
uint64_t DetWorkspaceBytes(const NodeSite& site);
KernelCost DetCost(const NodeSite& site);
template <typename T>
absl::Status RunDet(const KernelCall& call);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_LINEAR_ALGEBRA_KERNELS_H_
