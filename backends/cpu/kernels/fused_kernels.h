#ifndef TENSORD_BACKENDS_CPU_KERNELS_FUSED_KERNELS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_FUSED_KERNELS_H_

#include <memory>

#include "backends/api/kernel.h"

// The kernels of nodes that only compile passes make, and what is made of their
// parts, as kernels.h declares those of the standard's.
namespace tensord {

// elementwise_chain.cc
absl::Status AcceptsElementwiseChain(const NodeSite& site);
template <typename T>
absl::StatusOr<std::unique_ptr<KernelState>> PrepareElementwiseChain(
    const NodeSite& site, Device& device);
KernelCost ElementwiseChainCost(const NodeSite& site);
template <typename T>
absl::Status RunElementwiseChain(const KernelCall& call);

// step_kernels.cc: of any operator that is a step of such a chain and has
// NoParams, AlphaParams, HardSigmoidParams or GeluParams.
absl::StatusOr<std::unique_ptr<KernelState>> PrepareStep(const NodeSite& site,
                                                         Device& device);
absl::Status RunStep(const KernelCall& call);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_FUSED_KERNELS_H_
