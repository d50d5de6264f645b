#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/api/host_arguments.h"
#include "backends/cuda/kernels/reduction.h"

namespace tensord::cuda {
namespace {

constexpr int64_t kFullDevice = 512;  // blocks
constexpr int64_t kMinPartRuns = 8;   // for each thread of a block

// The dimensions of one kind with their strides in x, as a walk of its own.
struct Dimensions {
  Dims extents;
  Dims strides;

  BroadcastWalk<1> Walk() const {
    Layout layout;
    layout.shape = *Shape::Create(extents);
    layout.strides = strides;
    const Layout* const layouts[] = {&layout};
    return MakeBroadcastWalk<1>(layouts, layout.shape);
  }
};

int PowerOfTwoFrom(int64_t at_least, int most) {
  int power = 1;
  while (power < at_least && power < most) power *= 2;
  return power;
}

// Whether runs of `width` lie whole along the innermost dimension, which is
// reduced.
bool HasRuns(const BroadcastWalk<1>& kept, const BroadcastWalk<1>& reduced,
             int width) {
  if (reduced.strides[0][0] != 1 || reduced.extents[0] % width != 0) {
    return false;
  }
  for (int d = 1; d < reduced.rank; ++d) {
    if (reduced.strides[0][d] % width != 0) return false;
  }
  for (int d = 0; d < kept.rank; ++d) {
    if (kept.strides[0][d] % width != 0) return false;
  }
  return true;
}

Dims AxesOf(const NodeSite& site) {
  return IsGiven(site, 1) ? HostIntegers(site, 1) : Dims();
}

absl::StatusOr<DimensionMask> MaskOf(absl::Span<const int64_t> axes, int rank,
                                     const ReduceParams& params) {
  DimensionMask is_reduced{};
  if (axes.empty()) {
    std::fill_n(is_reduced.begin(), rank, !params.noop_with_empty_axes);
  }
  for (const int64_t axis : axes) {
    if (axis < -rank || axis >= rank) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axis, " is outside [", -rank, ", ", rank, ")"));
    }
    is_reduced[Normalised(axis, rank)] = true;
  }
  return is_reduced;
}

}  // namespace

ReductionPlan PlanReduction(const Shape& x, const DimensionMask& is_reduced,
                            int width) {
  Dimensions kept;
  Dimensions reduced;
  const Dims strides = Layout::Contiguous(x).strides;
  // Whose elements are neighbours: a dimension of extent 1 says nothing.
  bool innermost_is_kept = true;
  for (int d = 0; d < x.rank(); ++d) {
    Dimensions& own = is_reduced[d] ? reduced : kept;
    own.extents.push_back(x[d]);
    own.strides.push_back(strides[d]);
    if (x[d] != 1) innermost_is_kept = !is_reduced[d];
  }
  ReductionPlan plan;
  plan.kept = kept.Walk();
  plan.reduced = reduced.Walk();
  plan.reduced_count = plan.reduced.count;
  plan.neighbours_are_outputs = innermost_is_kept;
  plan.width = 1;
  if (!innermost_is_kept && width > 1 && x.element_count() > 0 &&
      HasRuns(plan.kept, plan.reduced, width)) {
    plan.width = width;
    plan.reduced.count /= width;
    plan.reduced.extents[0] /= width;
    plan.reduced.strides[0][0] = width;
    plan.reduced.divisors[0] = Divisor<uint32_t>(plan.reduced.extents[0]);
  }

  const int64_t runs = plan.reduced.count;
  plan.behind = innermost_is_kept ? PowerOfTwoFrom(runs / 16, 8)
                                  : PowerOfTwoFrom(runs / 4, kReductionThreads);
  plan.beside = kReductionThreads / plan.behind;
  const int64_t groups = (plan.kept.count + plan.beside - 1) / plan.beside;
  plan.parts = 1;
  if (groups > 0 && groups < kFullDevice / 2) {
    plan.parts = static_cast<int>(std::clamp<int64_t>(
        runs / (plan.behind * kMinPartRuns), 1, kFullDevice / groups));
  }
  return plan;
}

absl::Status AcceptsReduction(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  // Even where there are none: the extents of the output then are for the
  // kernel to tell, and only the host's does.
  if (site.has_input(1) && site.host_constant(1) == nullptr) {
    return absl::FailedPreconditionError("axes are not known before the run");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareReduction(
    const NodeSite& site, Device&) {
  auto state = std::make_unique<ReducedAxes>();
  state->axes = AxesOf(site);
  return state;
}

absl::StatusOr<DimensionMask> ReducedBy(const KernelCall& call) {
  const auto& axes = static_cast<const ReducedAxes*>(call.state)->axes;
  return MaskOf(axes, call.input_layout(0).shape.rank(),
                std::get<ReduceParams>(call.params));
}

uint64_t ReductionWorkspaceBytes(const NodeSite& site) {
  const Shape& x = site.input(0).shape;
  const auto is_reduced =
      MaskOf(AxesOf(site), x.rank(), std::get<ReduceParams>(site.params));
  if (!is_reduced.ok()) return 0;
  const int width = 16 * 8 / std::max(BitWidth(site.input_dtype(0)), 8);
  return std::max(
      PartialBytes(PlanReduction(x, *is_reduced, width), kMaxAccumulatorBytes),
      PartialBytes(PlanReduction(x, *is_reduced, 1), kMaxAccumulatorBytes));
}

KernelCost ReductionCost(const NodeSite& site) {
  const double elements = site.input(0).shape.element_count();
  return {
      .flops = elements,
      .bytes = static_cast<double>(
          ByteSize(site.input_dtype(0), site.input(0).shape.element_count()) +
          ByteSize(site.output_dtype(0),
                   site.output(0).shape.element_count()))};
}

}  // namespace tensord::cuda
