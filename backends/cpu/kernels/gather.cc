// Gather along an axis.
//
//   y[o, k, i] = x[o, indices[k], i]
//
// Every operand is contiguous; x is seen as [outer, extent, inner], indices as
// one list, y as [outer, indices, inner]; y is no input's buffer. An index
// below 0 counts from the end; one outside [-extent, extent) is
// kInvalidArgument, and nothing is written then. Elements are copied as bytes,
// so there is one kernel for each element size.

#include <cstdint>
#include <cstring>

#include "backends/api/axis_view.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/kernels/indices.h"

namespace tensord {
namespace {

constexpr int64_t kGrainBytes = 64 * 1024;

}  // namespace

template <int kElementBytes, typename Index>
absl::Status RunGather(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  const AxisView view(call.input_layout(0).shape,
                      std::get<AxisParams>(call.params).axis);
  const int64_t extent = view.extent;
  const int64_t inner = view.inner;
  const int64_t count = call.input_layout(1).shape.element_count();
  const Index* indices = call.input<Index>(1);
  const Element* x = call.input<Element>(0);
  Element* y = call.output<Element>(0);
  if (absl::Status status = CheckIndices(indices, count, extent);
      !status.ok()) {
    return status;
  }
  if (inner == 0) return absl::OkStatus();
  call.context.workers->ParallelFor(
      view.outer * count, kGrainBytes / (inner * kElementBytes) + 1,
      [=](int64_t begin, int64_t end) {
        for (int64_t slice = begin; slice < end; ++slice) {
          const int64_t index = indices[slice % count];
          const int64_t from = index < 0 ? index + extent : index;
          std::memcpy(y + slice * inner,
                      x + (slice / count * extent + from) * inner,
                      inner * kElementBytes);
        }
      });
  return absl::OkStatus();
}

template absl::Status RunGather<1, int32_t>(const KernelCall&);
template absl::Status RunGather<2, int32_t>(const KernelCall&);
template absl::Status RunGather<4, int32_t>(const KernelCall&);
template absl::Status RunGather<8, int32_t>(const KernelCall&);
template absl::Status RunGather<1, int64_t>(const KernelCall&);
template absl::Status RunGather<2, int64_t>(const KernelCall&);
template absl::Status RunGather<4, int64_t>(const KernelCall&);
template absl::Status RunGather<8, int64_t>(const KernelCall&);

}  // namespace tensord
