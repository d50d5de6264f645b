// MaxPool, AveragePool and LpPool over one to three spatial dimensions, with
// channels in the second dimension or in the last.
//
//   y[n, c, o] = the maximum, the mean or the p-norm of
//                x[n, c, o * stride - pad_begin + t * dilation]
//                over t in [0, kernel), in each spatial dimension
//
// x and y are contiguous, different buffers. Padding is no candidate for the
// maximum (a window of padding alone gives the least value) and adds nothing to
// the norm. The mean divides by the elements inside the input, or with
// count_include_pad by those inside the padded input; a window without elements
// gives 0. NaNs are left out of the maximum. Sums are float32.
//
// MaxPool's indices, for channels in the second dimension alone: the place of
// the first maximum in x seen as one line; -1 for a window of padding.

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/api/window.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

constexpr int kSpatialRank = 3;

// pool.comp's table.
struct Window {
  struct Axis {
    int32_t kernel = 1, stride = 1, dilation = 1, pad_begin = 0, pad_end = 0;
    int32_t extent = 1, outputs = 1;
  } axes[kSpatialRank];
};

uint32_t KindOf(OpKind op) {
  return op == OpKind::kMaxPool ? 0 : op == OpKind::kAveragePool ? 1 : 2;
}

absl::Status PlanPool(const NodeSite& site, Plan& plan) {
  const auto& params = std::get<PoolParams>(site.params);
  const Shape& x = site.input(0).shape;
  const Operand indices = plan.Out(1);
  const bool has_indices = indices.kind != Operand::Kind::kAbsent;
  const Operand values = plan.Out(0);
  // With both outputs' shapes being one, either tells it.
  const Shape& y = site.output(has_indices ? 1 : 0).shape;
  const int rank = x.rank() - 2;
  if (rank > kSpatialRank) {
    return absl::UnimplementedError(
        absl::StrCat("spatial rank ", rank, " is above ", kSpatialRank));
  }
  if (has_indices && params.channels_last) {
    return absl::UnimplementedError("indices with channels last");
  }
  Window window;
  const int first = params.channels_last ? 1 : 2;
  for (int i = 0; i < rank; ++i) {
    const WindowAxis axis = ResolveWindowAxis(params, i, rank, x[first + i]);
    window.axes[kSpatialRank - rank + i] = {
        static_cast<int32_t>(axis.kernel),
        static_cast<int32_t>(axis.stride),
        static_cast<int32_t>(axis.dilation),
        static_cast<int32_t>(axis.pad_begin),
        static_cast<int32_t>(axis.pad_end),
        static_cast<int32_t>(x[first + i]),
        static_cast<int32_t>(y[first + i])};
    constexpr int64_t kMost = int64_t{1} << 28;
    if (axis.span() + y[first + i] * axis.stride + axis.pad_end > kMost) {
      return absl::UnimplementedError(
          absl::StrCat("its windows reach beyond ", kMost));
    }
  }
  struct {
    uint32_t count, channels, p;
  } arguments = {static_cast<uint32_t>(y.element_count()),
                 static_cast<uint32_t>(x[params.channels_last ? rank + 1 : 1]),
                 static_cast<uint32_t>(params.p)};
  plan.Add(shaders::k_pool,
           {256, static_cast<uint32_t>(site.input_dtype(0)), KindOf(site.op),
            params.channels_last ? 1u : 0u, params.count_include_pad ? 1u : 0u,
            params.indices_are_column_major ? 1u : 0u},
           GroupsFor(y.element_count()),
           {plan.In(0), values, indices, plan.Table(window)}, arguments);
  return absl::OkStatus();
}

KernelCost PoolCost(const NodeSite& site) {
  constexpr double kEfficiency = 0.1;
  double window = 1;
  for (int64_t extent : std::get<PoolParams>(site.params).kernel_shape) {
    window *= static_cast<double>(extent);
  }
  KernelCost cost = CostByElements(site, window);
  cost.efficiency = kEfficiency;
  return cost;
}

RowList Rows() {
  const RowTraits traits = {.source = "backends/vulkan/kernels/pool.cc",
                            .cost = &PoolCost,
                            .caps = {.takes_channels_last = true}};
  RowList rows;
  rows.AddAll<&PlanPool>(OpKind::kAveragePool, "average_pool", kFloats, traits);
  rows.AddAll<&PlanPool>(OpKind::kLpPool, "lp_pool", kFloats, traits);
  const auto add_max = [&](DType dtype) {
    rows.Add<&PlanPool>(OpKind::kMaxPool, RowList::NameOf("max_pool", dtype),
                        Takes({dtype}, {dtype, DType::kInt64}), traits);
  };
  for (const DType dtype : kFloats) add_max(dtype);
  for (const DType dtype : {DType::kInt8, DType::kUInt8}) add_max(dtype);
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> PoolRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
