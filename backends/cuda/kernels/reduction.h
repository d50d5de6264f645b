#ifndef TENSORD_BACKENDS_CUDA_KERNELS_REDUCTION_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_REDUCTION_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/kernel.h"
#include "backends/cuda/kernels/broadcast_walk.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/map.h"

// What ReduceSum and its siblings, ArgMax and ArgMin share: each output is made
// of the elements along some dimensions of a contiguous x.
//
// Threads of a block stand beside each other (outputs) and behind each other
// (parts of one output), and meet in a tree in shared memory, whose order is
// always the same. Where there are too few outputs to fill a device, the
// elements of each are split among blocks as well, whose results meet in the
// workspace.
//
// A reduction is a trivially copyable struct, handed to the kernel:
//
//   using Element, Accumulator, Output;
//   __device__ Accumulator First() const;
//   __device__ void Add(Accumulator& total, Element x, int64_t index) const;
//   __device__ void Merge(Accumulator& total, const Accumulator& other) const;
//   __device__ Output Result(const Accumulator& total, int64_t count) const;
namespace tensord::cuda {

inline constexpr int kReductionThreads = 256;
inline constexpr int kMaxAccumulatorBytes = 16;

// Which dimensions of a shape are reduced.
using DimensionMask = std::array<bool, kMaxRank>;

struct ReductionPlan {
  BroadcastWalk<1> kept;     // outputs
  BroadcastWalk<1> reduced;  // runs of `width` elements
  int64_t reduced_count;     // elements
  int width;
  bool neighbours_are_outputs;  // threads beside each other are of a warp
  int beside;                   // outputs of a block
  int behind;                   // threads for each
  int parts;                    // blocks for each
};

// `width`: elements that one aligned load may take.
ReductionPlan PlanReduction(const Shape& x, const DimensionMask& is_reduced,
                            int width);

// The axes of ReduceSum and its siblings, which must be known before the run:
// the kernel has no other look at them.
struct ReducedAxes final : KernelState {
  Dims axes;
};
absl::Status AcceptsReduction(const NodeSite& site);
absl::StatusOr<std::unique_ptr<KernelState>> PrepareReduction(
    const NodeSite& site, Device& device);
KernelCost ReductionCost(const NodeSite& site);
// For accumulators of up to kMaxAccumulatorBytes.
uint64_t ReductionWorkspaceBytes(const NodeSite& site);
// What they mean for a call; kInvalidArgument for an axis out of range.
absl::StatusOr<DimensionMask> ReducedBy(const KernelCall& call);

// Workspace for the partial results of a plan.
inline uint64_t PartialBytes(const ReductionPlan& plan,
                             uint64_t accumulator_bytes) {
  return plan.parts == 1 ? 0
                         : static_cast<uint64_t>(plan.parts) * plan.kept.count *
                               accumulator_bytes;
}

template <int kWidth, typename Reduction>
__device__ void AddElements(const ReductionPlan& plan,
                            const Reduction& reduction,
                            const typename Reduction::Element* x, int64_t begin,
                            int64_t end,
                            typename Reduction::Accumulator& total) {
  using Element = typename Reduction::Element;
  using Accumulator = typename Reduction::Accumulator;
  constexpr int kInFlight = kWidth == 1 && sizeof(Accumulator) <= 8 ? 4 : 2;
  int64_t at = begin;
  for (; at + (kInFlight - 1) * plan.behind < end;
       at += kInFlight * plan.behind) {
    Element from[kInFlight][kWidth];
    for (int u = 0; u < kInFlight; ++u) {
      LoadRun<kWidth>(x + plan.reduced.LocateOne(0, at + u * plan.behind),
                      kWidth, true, from[u]);
    }
    for (int u = 0; u < kInFlight; ++u) {
      for (int k = 0; k < kWidth; ++k) {
        reduction.Add(total, from[u][k], (at + u * plan.behind) * kWidth + k);
      }
    }
  }
  for (; at < end; at += plan.behind) {
    Element from[kWidth];
    LoadRun<kWidth>(x + plan.reduced.LocateOne(0, at), kWidth, true, from);
    for (int k = 0; k < kWidth; ++k) {
      reduction.Add(total, from[k], at * kWidth + k);
    }
  }
}

// `partials` is [parts, outputs], or null where y is written.
template <int kWidth, typename Reduction>
__global__ void ReduceKernel(ReductionPlan plan, Reduction reduction,
                             const typename Reduction::Element* x,
                             typename Reduction::Output* y,
                             typename Reduction::Accumulator* partials) {
  using Accumulator = typename Reduction::Accumulator;
  __shared__ Accumulator totals[kReductionThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const int beside =
      plan.neighbours_are_outputs ? thread % plan.beside : thread / plan.behind;
  const int behind =
      plan.neighbours_are_outputs ? thread / plan.beside : thread % plan.behind;
  Accumulator& mine = totals[behind * plan.beside + beside];
  const int64_t part_runs = (plan.reduced.count + plan.parts - 1) / plan.parts;
  const int64_t begin = part_runs * blockIdx.y;
  const int64_t end = plan.reduced.count - begin < part_runs
                          ? plan.reduced.count
                          : begin + part_runs;
  const int64_t step = static_cast<int64_t>(gridDim.x) * plan.beside;
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * plan.beside;
       first < plan.kept.count; first += step) {
    const int64_t output = first + beside;
    Accumulator total = reduction.First();
    if (output < plan.kept.count) {
      AddElements<kWidth>(plan, reduction, x + plan.kept.LocateOne(0, output),
                          begin + behind, end, total);
    }
    mine = total;
    for (int half = plan.behind / 2; half > 0; half /= 2) {
      __syncthreads();
      if (behind < half) {
        reduction.Merge(mine, totals[(behind + half) * plan.beside + beside]);
      }
    }
    if (behind == 0 && output < plan.kept.count) {
      if (partials != nullptr) {
        partials[blockIdx.y * plan.kept.count + output] = mine;
      } else {
        y[output] = reduction.Result(mine, plan.reduced_count);
      }
    }
    __syncthreads();
  }
}

template <typename Reduction>
__global__ void MergePartialsKernel(
    Reduction reduction, const typename Reduction::Accumulator* partials,
    int parts, int64_t outputs, int64_t reduced_count,
    typename Reduction::Output* y) {
  for (int64_t i = GridThread(); i < outputs; i += GridThreads()) {
    typename Reduction::Accumulator total = partials[i];
    for (int part = 1; part < parts; ++part) {
      reduction.Merge(total, partials[part * outputs + i]);
    }
    y[i] = reduction.Result(total, reduced_count);
  }
}

// Launches the reduction of input 0 to output 0. kWidth is what one load of an
// element's neighbours takes.
template <int kWidth, typename Reduction>
absl::Status LaunchReduction(const KernelCall& call,
                             const DimensionMask& is_reduced,
                             const Reduction& reduction) {
  using Accumulator = typename Reduction::Accumulator;
  static_assert(sizeof(Accumulator) <= kMaxAccumulatorBytes);
  const auto* x = call.input<typename Reduction::Element>(0);
  auto* y = call.output<typename Reduction::Output>(0);
  ReductionPlan plan = PlanReduction(call.input_layout(0).shape, is_reduced,
                                     IsAligned(x, kWidth) ? kWidth : 1);
  // Extents that only the run tells may be split where their bounds are not.
  if (PartialBytes(plan, sizeof(Accumulator)) >
      call.context.workspace.size_bytes) {
    plan.parts = 1;
  }
  Accumulator* partials =
      plan.parts == 1
          ? nullptr
          : reinterpret_cast<Accumulator*>(call.context.workspace.address());
  const int64_t groups = (plan.kept.count + plan.beside - 1) / plan.beside;
  constexpr int64_t kMaxGroups = 32 * 1024;
  const LaunchShape shape = {
      dim3(static_cast<unsigned>(std::min(groups, kMaxGroups)),
           static_cast<unsigned>(plan.parts)),
      dim3(static_cast<unsigned>(plan.beside * plan.behind))};
  const auto kernel = plan.width == 1 ? ReduceKernel<1, Reduction>
                                      : ReduceKernel<kWidth, Reduction>;
  absl::Status status =
      Launch(call.context, kernel, shape, plan, reduction, x, y, partials);
  if (!status.ok() || partials == nullptr) return status;
  return Launch(call.context, MergePartialsKernel<Reduction>,
                ForElements(plan.kept.count), reduction,
                static_cast<const Accumulator*>(partials), plan.parts,
                plan.kept.count, plan.reduced_count, y);
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_REDUCTION_H_
