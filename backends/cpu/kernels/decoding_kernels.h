#ifndef TENSORD_BACKENDS_CPU_KERNELS_DECODING_KERNELS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_DECODING_KERNELS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/kernel.h"

// As kernels.h, of the operators whose state goes from one token to the next.
namespace tensord {

// causal_conv.cc
KernelCost CausalConvCost(const NodeSite& site);
template <typename T>
absl::Status RunCausalConvWithState(const KernelCall& call);

// linear_attention.cc
uint64_t LinearAttentionWorkspaceBytes(const NodeSite& site);
KernelCost LinearAttentionCost(const NodeSite& site);
template <typename T, typename S>
absl::Status RunLinearAttention(const KernelCall& call);

// tensor_scatter.cc
template <int kElementBytes>
absl::Status RunTensorScatter(const KernelCall& call);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_DECODING_KERNELS_H_
