#ifndef TENSORD_BACKENDS_CPU_KERNELS_TRAINING_KERNELS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_TRAINING_KERNELS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/kernel.h"

// As kernels.h, of the operators that train: losses and optimizers.
namespace tensord {

// loss.cc
uint64_t LossWorkspaceBytes(const NodeSite& site);
KernelCost LossCost(const NodeSite& site);
template <typename T, typename Index>
absl::Status RunNegativeLogLikelihoodLoss(const KernelCall& call);
template <typename T, typename Index>
absl::Status RunSoftmaxCrossEntropyLoss(const KernelCall& call);

// optimizers.cc
template <typename T, typename Rate>
absl::Status RunAdagrad(const KernelCall& call);
template <typename T, typename Rate>
absl::Status RunAdam(const KernelCall& call);
template <typename T, typename Rate>
absl::Status RunMomentum(const KernelCall& call);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_TRAINING_KERNELS_H_
