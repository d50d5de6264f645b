#ifndef TENSORD_BACKENDS_CPU_KERNELS_CHANNELS_LAST_KERNELS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_CHANNELS_LAST_KERNELS_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/kernel.h"

// As kernels.h, of nodes that have their channels in the last dimension:
// stateless functions that any thread may call.
namespace tensord {

// conv_channels_last.cc
absl::Status AcceptsConvChannelsLast(const NodeSite& site);
template <typename T>
uint64_t ConvChannelsLastWorkspaceBytes(const NodeSite& site);
template <typename T>
absl::StatusOr<std::unique_ptr<KernelState>> PrepareConvChannelsLast(
    const NodeSite& site, Device& device);
KernelCost ConvChannelsLastCost(const NodeSite& site);
template <typename T>
absl::Status RunConvChannelsLast(const KernelCall& call);

// pool_channels_last.cc
absl::Status AcceptsPoolChannelsLast(const NodeSite& site);
template <typename T>
absl::Status RunMaxPoolChannelsLast(const KernelCall& call);
template <typename T>
absl::Status RunAveragePoolChannelsLast(const KernelCall& call);
template <typename T>
absl::Status RunGlobalMaxPoolChannelsLast(const KernelCall& call);
template <typename T>
absl::Status RunGlobalAveragePoolChannelsLast(const KernelCall& call);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_CHANNELS_LAST_KERNELS_H_
