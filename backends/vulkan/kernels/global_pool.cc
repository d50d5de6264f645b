// GlobalAveragePool, GlobalMaxPool and GlobalLpPool: each plane becomes one
// element, its mean, maximum or p-norm (p of 1 or 2). The first two also take
// channels in the last dimension.
//
// x is contiguous [N, C, spatial...] or [N, spatial..., C], y has spatial
// extents of 1 and is another buffer. Sums are float32. A plane with a NaN has
// a NaN for its maximum.

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/vulkan/kernels/reduce.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"

namespace tensord::vulkan {
namespace {

absl::Status PlanGlobalPool(const NodeSite& site, Plan& plan) {
  const auto* params = std::get_if<PoolParams>(&site.params);
  const int rank = site.input(0).shape.rank();
  const bool is_last = params != nullptr && params->channels_last;
  DimensionMask mask{};
  for (int d = is_last ? 1 : 2; d < (is_last ? rank - 1 : rank); ++d) {
    mask[d] = true;
  }
  ReductionKind kind = ReductionKind::kMean;
  if (site.op == OpKind::kGlobalMaxPool) kind = ReductionKind::kMax;
  if (site.op == OpKind::kGlobalLpPool) {
    const int64_t p = params == nullptr ? 2 : params->p;
    if (p != 1 && p != 2) {
      return absl::UnimplementedError(absl::StrCat("a norm of p ", p));
    }
    kind = p == 1 ? ReductionKind::kL1 : ReductionKind::kL2;
  }
  return AddReduction(site, kind, mask, /*selects_last=*/false, plan);
}

KernelCost GlobalPoolCost(const NodeSite& site) {
  KernelCost cost = CostByElements(site, 0);
  cost.flops = static_cast<double>(site.input(0).shape.element_count());
  return cost;
}

RowList Rows() {
  RowTraits traits = {.source = "backends/vulkan/kernels/global_pool.cc",
                      .cost = &GlobalPoolCost};
  RowList rows;
  rows.AddAll<&PlanGlobalPool>(OpKind::kGlobalLpPool, "global_lp_pool", kFloats,
                               traits);
  traits.caps.takes_channels_last = true;
  rows.AddAll<&PlanGlobalPool>(OpKind::kGlobalAveragePool,
                               "global_average_pool", kFloats, traits);
  rows.AddAll<&PlanGlobalPool>(OpKind::kGlobalMaxPool, "global_max_pool",
                               kFloats, traits);
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> GlobalPoolRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
