#ifndef TENSORD_BACKENDS_VULKAN_KERNELS_REDUCE_H_
#define TENSORD_BACKENDS_VULKAN_KERNELS_REDUCE_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/kernel.h"
#include "backends/vulkan/plan.h"

namespace tensord::vulkan {

// reduce.comp's kinds.
enum class ReductionKind : uint32_t {
  kSum,
  kMean,
  kMax,
  kMin,
  kProd,
  kL1,
  kL2,
  kSumSquare,
  kLogSum,
  kLogSumExp,
  kArgMax,
  kArgMin,
};

// Which dimensions of a shape are reduced.
using DimensionMask = std::array<bool, kMaxRank>;

// Adds the reduction of input 0 to output 0. kUnimplemented where kept and
// reduced dimensions alternate too often.
absl::Status AddReduction(const NodeSite& site, ReductionKind kind,
                          const DimensionMask& mask, bool selects_last,
                          Plan& plan);

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_KERNELS_REDUCE_H_
