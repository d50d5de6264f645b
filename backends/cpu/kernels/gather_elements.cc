// GatherElements along an axis.
//
//   y[i0, ..., ia, ...] = x[i0, ..., indices[i0, ..., ia, ...], ...]
//
// All are contiguous; y and the indices have one shape, which is within x's in
// every dimension but the axis, and y is no input's buffer. An index below 0
// counts from the end; one outside [-extent, extent) is kInvalidArgument, and
// nothing is written then. Elements are copied as bytes, so there is one kernel
// for each element size.

#include <array>
#include <cstdint>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/kernels/indices.h"
#include "backends/cpu/kernels/strided_walk.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 16 * 1024;

}  // namespace

template <int kElementBytes, typename Index>
absl::Status RunGatherElements(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  const Layout& x_layout = call.input_layout(0);
  const int64_t given_axis = std::get<AxisParams>(call.params).axis;
  const int axis = static_cast<int>(
      given_axis < 0 ? given_axis + x_layout.shape.rank() : given_axis);
  const Shape& shape = call.input_layout(1).shape;
  const int64_t extent = x_layout.shape[axis];
  const Index* indices = call.input<Index>(1);
  if (absl::Status status =
          CheckIndices(indices, shape.element_count(), extent);
      !status.ok()) {
    return status;
  }
  // Where an element of y would be in x if its index were 0.
  const StridedWalk<1> walk(
      shape, [&](int, int d) { return d == axis ? 0 : x_layout.strides[d]; });
  const int64_t step = walk.strides[0][walk.rank - 1];
  const int64_t axis_stride = x_layout.strides[axis];
  const Element* x = call.input<Element>(0);
  Element* y = call.output<Element>(0);
  call.context.workers->ParallelFor(
      shape.element_count(), kGrainElements, [&](int64_t begin, int64_t end) {
        walk.ForRange(
            begin, end,
            [&](int64_t at, const std::array<int64_t, 1>& offsets,
                int64_t length) {
              for (int64_t i = 0; i < length; ++i) {
                const int64_t index = indices[at + i];
                y[at + i] =
                    x[offsets[0] + i * step +
                      (index < 0 ? index + extent : index) * axis_stride];
              }
            });
      });
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(bytes)                                            \
  template absl::Status RunGatherElements<bytes, int32_t>(const KernelCall&); \
  template absl::Status RunGatherElements<bytes, int64_t>(const KernelCall&);

TENSORD_INSTANTIATE(1)
TENSORD_INSTANTIATE(2)
TENSORD_INSTANTIATE(4)
TENSORD_INSTANTIATE(8)

}  // namespace tensord
