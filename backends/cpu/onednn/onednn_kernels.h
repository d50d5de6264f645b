#ifndef TENSORD_BACKENDS_CPU_ONEDNN_ONEDNN_KERNELS_H_
#define TENSORD_BACKENDS_CPU_ONEDNN_ONEDNN_KERNELS_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/kernel.h"

// The kernels on oneDNN, for the kernel table alone. What they have in common:
// each accepts what the library has fast code for on this machine, makes its
// primitives in its Prepare function, and computes in parts (split.h).
namespace tensord::onednn {

// What a float32 kernel multiplies: float32 as it is, or rounded to bfloat16
// where the node's precision allows that. Sums are float32 in both.
enum class Factors { kFloat32, kBFloat16 };

using PreparedState = absl::StatusOr<std::unique_ptr<KernelState>>;

// conv.cc
template <Factors kFactors>
absl::Status AcceptsConv(const NodeSite& site);
template <Factors kFactors>
KernelCost ConvCost(const NodeSite& site);
template <Factors kFactors>
uint64_t ConvWorkspaceBytes(const NodeSite& site);
template <Factors kFactors>
PreparedState PrepareConv(const NodeSite& site, Device& device);
absl::Status RunConv(const KernelCall& call);

// conv_integer.cc
absl::Status AcceptsConvInteger(const NodeSite& site);
KernelCost ConvIntegerCost(const NodeSite& site);
uint64_t ConvIntegerWorkspaceBytes(const NodeSite& site);
PreparedState PrepareConvInteger(const NodeSite& site, Device& device);
template <typename X>
absl::Status RunConvInteger(const KernelCall& call);

// conv_pointwise.cc
template <Factors kFactors>
absl::Status AcceptsConvPointwise(const NodeSite& site);
template <Factors kFactors>
KernelCost ConvPointwiseCost(const NodeSite& site);
template <Factors kFactors>
uint64_t ConvPointwiseWorkspaceBytes(const NodeSite& site);
template <Factors kFactors>
PreparedState PrepareConvPointwise(const NodeSite& site, Device& device);
absl::Status RunConvPointwise(const KernelCall& call);

// gemm.cc
template <Factors kFactors>
absl::Status AcceptsGemm(const NodeSite& site);
template <Factors kFactors>
KernelCost GemmCost(const NodeSite& site);
template <Factors kFactors>
uint64_t GemmWorkspaceBytes(const NodeSite& site);
template <Factors kFactors>
PreparedState PrepareGemm(const NodeSite& site, Device& device);
absl::Status RunGemm(const KernelCall& call);

// matmul.cc
template <Factors kFactors>
absl::Status AcceptsMatMul(const NodeSite& site);
template <Factors kFactors>
KernelCost MatMulCost(const NodeSite& site);
template <Factors kFactors>
uint64_t MatMulWorkspaceBytes(const NodeSite& site);
template <Factors kFactors>
PreparedState PrepareMatMul(const NodeSite& site, Device& device);
absl::Status RunMatMul(const KernelCall& call);

// matmul_integer.cc
absl::Status AcceptsMatMulInteger(const NodeSite& site);
KernelCost MatMulIntegerCost(const NodeSite& site);
uint64_t MatMulIntegerWorkspaceBytes(const NodeSite& site);
PreparedState PrepareMatMulInteger(const NodeSite& site, Device& device);
template <typename A, typename B>
absl::Status RunMatMulInteger(const KernelCall& call);

// qlinear_conv.cc
absl::Status AcceptsQLinearConv(const NodeSite& site);
KernelCost QLinearConvCost(const NodeSite& site);
uint64_t QLinearConvWorkspaceBytes(const NodeSite& site);
PreparedState PrepareQLinearConv(const NodeSite& site, Device& device);
absl::Status RunQLinearConv(const KernelCall& call);

// qlinear_matmul.cc
absl::Status AcceptsQLinearMatMul(const NodeSite& site);
KernelCost QLinearMatMulCost(const NodeSite& site);
uint64_t QLinearMatMulWorkspaceBytes(const NodeSite& site);
PreparedState PrepareQLinearMatMul(const NodeSite& site, Device& device);
template <typename A, typename B, typename Y>
absl::Status RunQLinearMatMul(const KernelCall& call);

}  // namespace tensord::onednn

#endif  // TENSORD_BACKENDS_CPU_ONEDNN_ONEDNN_KERNELS_H_
