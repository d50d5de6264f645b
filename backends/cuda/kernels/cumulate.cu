// CumSum and CumProd along the axis that input 1 says.
//
//   y[o, c, i] = sum or product over b <= c of x[o, b, i]
//
// with b < c if exclusive, and from the other end if reverse. x and y are
// contiguous, seen as [outer, extent of the axis, inner], and may be the same
// buffer. Accumulates in the elements' own type, 16-bit floats in float32;
// integers wrap.
//
// A warp goes along a line, 32 elements at a time: what the elements before an
// element make up is passed on in five steps. The axis must be known before the
// run.

#include <cstdint>
#include <memory>

#include "backends/api/axis_view.h"
#include "backends/api/host_arguments.h"
#include "backends/cuda/kernels/cast.h"
#include "backends/cuda/kernels/map.h"
#include "backends/cuda/kernels/row_sums.h"
#include "backends/cuda/kernels/visit_dtype.h"

namespace tensord::cuda {
namespace {

struct AxisState final : KernelState {
  int axis = 0;
};

struct Lines {
  int64_t count;
  int64_t extent;
  int64_t inner;
  bool multiplies;
  bool is_exclusive;
  bool is_reverse;

  // Of step c of a line, counted from where it begins.
  __device__ int64_t Locate(int64_t line, int64_t c) const {
    const int64_t along = is_reverse ? extent - 1 - c : c;
    return (line / inner * extent + along) * inner + line % inner;
  }
};

template <typename T>
__global__ void CumulateKernel(Lines lines, const T* x, T* y) {
  using U = Wrapping<T>;
  const U none = static_cast<U>(lines.multiplies ? 1 : 0);
  const auto combine = [&](U a, U b) {
    return static_cast<U>(lines.multiplies ? a * b : a + b);
  };
  const int lane = static_cast<int>(threadIdx.x) % kWarpThreads;
  const int64_t step = GridThreads() / kWarpThreads;
  for (int64_t line = GridThread() / kWarpThreads; line < lines.count;
       line += step) {
    U before = none;  // all that the line's earlier elements make up
    for (int64_t first = 0; first < lines.extent; first += kWarpThreads) {
      const int64_t c = first + lane;
      const bool is_inside = c < lines.extent;
      const int64_t at = is_inside ? lines.Locate(line, c) : 0;
      U total = is_inside ? static_cast<U>(ToCompute(x[at])) : none;
      for (int distance = 1; distance < kWarpThreads; distance *= 2) {
        const U earlier = __shfl_up_sync(0xffffffffu, total, distance);
        if (lane >= distance) total = combine(earlier, total);
      }
      U exclusive = __shfl_up_sync(0xffffffffu, total, 1);
      if (lane == 0) exclusive = none;
      if (is_inside) {
        const U own = combine(before, lines.is_exclusive ? exclusive : total);
        y[at] = Convert<T>(static_cast<Compute<T>>(own));
      }
      before =
          combine(before, __shfl_sync(0xffffffffu, total, kWarpThreads - 1));
    }
  }
}

}  // namespace

absl::Status AcceptsCumulation(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  if (absl::Status status = CheckKnown(site, {1}); !status.ok()) return status;
  const int64_t axis = HostIntegers(site, 1)[0];
  const int64_t rank = site.input(0).shape.rank();
  if (axis >= -rank && axis < rank) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("axis ", axis, " is outside [", -rank, ", ", rank, ")"));
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareCumulation(
    const NodeSite& site, Device&) {
  auto state = std::make_unique<AxisState>();
  state->axis =
      Normalised(HostIntegers(site, 1)[0], site.input(0).shape.rank());
  return state;
}

absl::Status RunCumulation(const KernelCall& call, OpKind op, DType dtype) {
  const auto& params = std::get<CumSumParams>(call.params);
  const Shape& shape = call.input_layout(0).shape;
  if (shape.element_count() == 0) return absl::OkStatus();
  const AxisView view(shape, static_cast<const AxisState&>(*call.state).axis);
  const Lines lines = {
      view.outer * view.inner, view.extent,         view.inner,
      op == OpKind::kCumProd,  params.is_exclusive, params.is_reverse};
  const auto launch = [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Launch(call.context, CumulateKernel<T>,
                  ForElements(lines.count * kWarpThreads, 64), lines,
                  call.input<T>(0), call.output<T>(0));
  };
  switch (dtype) {
    case DType::kInt32:
      return launch(TypeTag<int32_t>());
    case DType::kInt64:
      return launch(TypeTag<int64_t>());
    case DType::kUInt32:
      return launch(TypeTag<uint32_t>());
    case DType::kUInt64:
      return launch(TypeTag<uint64_t>());
    default:
      return VisitFloat(dtype, launch);
  }
}

}  // namespace tensord::cuda
