#ifndef TENSORD_BACKENDS_CPU_KERNELS_RANDOM_KERNELS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_RANDOM_KERNELS_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/kernel.h"

// As kernels.h, which says what this is for: operators that draw numbers.
namespace tensord {

// multinomial.cc
uint64_t MultinomialWorkspaceBytes(const NodeSite& site);
template <typename T, typename Index>
absl::Status RunMultinomial(const KernelCall& call);

// random.cc
absl::Status AcceptsSeeded(const NodeSite& site);  // Multinomial's too
absl::StatusOr<std::unique_ptr<KernelState>> PrepareBernoulli(
    const NodeSite& site, Device& device);
template <typename T>
absl::Status RunBernoulli(const KernelCall& call);
template <typename T>
absl::Status RunRandomNormal(const KernelCall& call);
template <typename T>
absl::Status RunRandomUniform(const KernelCall& call);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_RANDOM_KERNELS_H_
