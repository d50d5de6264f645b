#ifndef TENSORD_BACKENDS_CPU_KERNELS_MOVEMENT_COSTS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_MOVEMENT_COSTS_H_

#include "backends/api/kernel.h"

// What kernels cost that move elements and are held up by something else than
// memory: the runs that they copy, or strides. Measured as efficiency.h says.
namespace tensord {

KernelCost ConcatCost(const NodeSite& site);
KernelCost SliceCost(const NodeSite& site);
KernelCost TransposeCost(const NodeSite& site);
// Global pools, either order of channels.
KernelCost GlobalPoolCost(const NodeSite& site);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_MOVEMENT_COSTS_H_
