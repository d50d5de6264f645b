#ifndef TENSORD_BACKENDS_CPU_KERNELS_SIGNAL_KERNELS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_SIGNAL_KERNELS_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/kernel.h"

// As kernels.h, which says what this is for: operators on signals and their
// spectra.
namespace tensord {

// dft.cc
absl::Status AcceptsDft(const NodeSite& site);
template <typename T>
uint64_t DftWorkspaceBytes(const NodeSite& site);
template <typename T>
absl::StatusOr<std::unique_ptr<KernelState>> PrepareDft(const NodeSite& site,
                                                        Device& device);
KernelCost DftCost(const NodeSite& site);
template <typename T>
absl::Status RunDft(const KernelCall& call);

// mel_weight_matrix.cc
absl::StatusOr<std::unique_ptr<KernelState>> PrepareMelWeightMatrix(
    const NodeSite& site, Device& device);
template <typename T>
absl::Status RunMelWeightMatrix(const KernelCall& call);

// stft.cc
absl::Status AcceptsStft(const NodeSite& site);
template <typename T>
uint64_t StftWorkspaceBytes(const NodeSite& site);
template <typename T>
absl::StatusOr<std::unique_ptr<KernelState>> PrepareStft(const NodeSite& site,
                                                         Device& device);
KernelCost StftCost(const NodeSite& site);
template <typename T>
absl::Status RunStft(const KernelCall& call);

// window_functions.cc
template <typename T>
absl::Status RunBlackmanWindow(const KernelCall& call);
template <typename T>
absl::Status RunHammingWindow(const KernelCall& call);
template <typename T>
absl::Status RunHannWindow(const KernelCall& call);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_SIGNAL_KERNELS_H_
