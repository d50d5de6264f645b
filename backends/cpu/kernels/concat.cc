// Concat along an axis.
//
//   y[o, offset_k + j, i] = x_k[o, j, i]
//
// Every operand is contiguous and seen as [outer, extent along the axis,
// inner]; y is none of the inputs' buffers. Elements are copied as bytes, so
// there is one kernel for each element size.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"

namespace tensord {
namespace {

constexpr int64_t kGrainBytes = 128 * 1024;

}  // namespace

template <int kElementBytes>
absl::Status RunConcat(const KernelCall& call) {
  const Shape& y_shape = call.output_layout(0).shape;
  const int rank = y_shape.rank();
  const int64_t given_axis = std::get<AxisParams>(call.params).axis;
  const int axis =
      static_cast<int>(given_axis < 0 ? given_axis + rank : given_axis);
  const int64_t outer = y_shape.ElementCount(0, axis);
  const int64_t y_row_bytes = y_shape.ElementCount(axis, rank) * kElementBytes;
  std::byte* y = reinterpret_cast<std::byte*>(call.outputs[0].address()) +
                 call.output_layout(0).offset * kElementBytes;

  for (size_t k = 0; k < call.inputs.size(); ++k) {
    const Layout& layout = call.input_layout(static_cast<int>(k));
    const int64_t row_bytes =
        layout.shape.ElementCount(axis, rank) * kElementBytes;
    if (row_bytes == 0) continue;
    const std::byte* x =
        call.inputs[k].address() + layout.offset * kElementBytes;
    // The input's bytes in one line, cut where its rows end.
    call.context.workers->ParallelFor(
        outer * row_bytes, kGrainBytes, [=](int64_t begin, int64_t end) {
          while (begin < end) {
            const int64_t row = begin / row_bytes;
            const int64_t column = begin % row_bytes;
            const int64_t length = std::min(row_bytes - column, end - begin);
            std::memcpy(y + row * y_row_bytes + column, x + begin, length);
            begin += length;
          }
        });
    y += row_bytes;
  }
  return absl::OkStatus();
}

template absl::Status RunConcat<1>(const KernelCall&);
template absl::Status RunConcat<2>(const KernelCall&);
template absl::Status RunConcat<4>(const KernelCall&);
template absl::Status RunConcat<8>(const KernelCall&);

}  // namespace tensord
