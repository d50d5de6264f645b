#ifndef TENSORD_BACKENDS_CPU_KERNELS_SAMPLING_KERNELS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_SAMPLING_KERNELS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/kernel.h"

// As kernels.h, which says what this is for: operators that read images between
// their elements.
namespace tensord {

// affine_grid.cc
template <typename T>
absl::Status RunAffineGrid(const KernelCall& call);

// deform_conv.cc
absl::Status AcceptsDeformConv(const NodeSite& site);
uint64_t DeformConvWorkspaceBytes(const NodeSite& site);
KernelCost DeformConvCost(const NodeSite& site);
template <typename T>
absl::Status RunDeformConv(const KernelCall& call);

// grid_sample.cc
KernelCost GridSampleCost(const NodeSite& site);
template <typename T, typename Grid>
absl::Status RunGridSample(const KernelCall& call);

// roi_align.cc
template <typename T>
absl::Status RunRoiAlign(const KernelCall& call);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_SAMPLING_KERNELS_H_
