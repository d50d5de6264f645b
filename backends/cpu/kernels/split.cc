// Split along an axis.
//
//   y_k[o, j, i] = x[o, offset_k + j, i]
//
// Every operand is contiguous and seen as [outer, extent along the axis,
// inner]; no y is x's buffer. The parts' extents are input 1;
// without it the parts are equal (the last may be smaller). Where they are
// computed they go to the cells, and each y is written densely. Elements are
// copied as bytes, so there is one kernel for each element size.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "backends/api/axis_view.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/kernels/extent_cells.h"

namespace tensord {
namespace {

constexpr int64_t kGrainBytes = 128 * 1024;

// Each part is at least 0, and together they are the whole.
absl::Status CheckParts(const int64_t* parts, size_t count, int64_t extent) {
  int64_t left = extent;
  for (size_t k = 0; k < count; ++k) {
    if (parts[k] < 0 || parts[k] > left) {
      return absl::InvalidArgumentError(
          absl::StrCat("part ", k, " has extent ", parts[k], ", but ", left,
                       " of ", extent, " are left"));
    }
    left -= parts[k];
  }
  if (left == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the parts leave ", left, " of ", extent, " along the axis"));
}

}  // namespace

template <int kElementBytes>
absl::Status RunSplit(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  const Shape& shape = call.input_layout(0).shape;
  const int64_t given_axis = std::get<SplitParams>(call.params).axis;
  const int axis =
      static_cast<int>(given_axis < 0 ? given_axis + shape.rank() : given_axis);
  const AxisView view(shape, axis);
  const int64_t* parts = call.has_input(1) ? call.input<int64_t>(1) : nullptr;
  if (parts != nullptr) {
    if (absl::Status status =
            CheckParts(parts, call.outputs.size(), view.extent);
        !status.ok()) {
      return status;
    }
  }
  ExtentCells cells(call.context);
  Dims extents(shape.extents().begin(), shape.extents().end());
  const int64_t x_row_bytes = view.extent * view.inner * kElementBytes;
  const auto count = static_cast<int64_t>(call.outputs.size());
  const bool rounds_up = std::get<SplitParams>(call.params).last_may_be_smaller;
  const int64_t equal = (view.extent + (rounds_up ? count - 1 : 0)) / count;
  const auto* x = reinterpret_cast<const std::byte*>(call.input<Element>(0));
  int64_t left = view.extent;
  for (int k = 0; k < count; ++k) {
    const int64_t extent = parts != nullptr ? parts[k] : std::min(equal, left);
    left -= extent;
    const int64_t row_bytes = extent * view.inner * kElementBytes;
    const bool is_present = call.outputs[k].is_present();
    if (is_present) {
      extents[axis] = extent;
      cells.Write(extents);
    }
    if (is_present && row_bytes != 0) {
      auto* y = reinterpret_cast<std::byte*>(call.output<Element>(k));
      // The output's bytes in one line, cut where its rows end.
      call.context.workers->ParallelFor(
          view.outer * row_bytes, kGrainBytes, [=](int64_t begin, int64_t end) {
            while (begin < end) {
              const int64_t row = begin / row_bytes;
              const int64_t column = begin % row_bytes;
              const int64_t length = std::min(row_bytes - column, end - begin);
              std::memcpy(y + begin, x + row * x_row_bytes + column, length);
              begin += length;
            }
          });
    }
    x += row_bytes;
  }
  return absl::OkStatus();
}

template absl::Status RunSplit<1>(const KernelCall&);
template absl::Status RunSplit<2>(const KernelCall&);
template absl::Status RunSplit<4>(const KernelCall&);
template absl::Status RunSplit<8>(const KernelCall&);

}  // namespace tensord
