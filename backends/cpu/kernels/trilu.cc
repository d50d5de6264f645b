// Trilu.
//
//   y[b, r, c] = x[b, r, c] on the wanted side of the k-th diagonal, else 0
//
// The upper side is c >= r + k, the lower c <= r + k; k is input 1, or 0
// without it. x and y are contiguous and may be the same buffer. Elements are
// copied as bytes, so there is one kernel for each element size.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 32 * 1024;

}  // namespace

template <int kElementBytes>
absl::Status RunTrilu(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  const bool is_upper = std::get<TriluParams>(call.params).is_upper;
  const Shape& shape = call.input_layout(0).shape;
  const int64_t rows = shape[shape.rank() - 2];
  const int64_t columns = shape[shape.rank() - 1];
  // Past the matrix every diagonal is alike; r + k must not overflow.
  const int64_t k = call.has_input(1) ? std::clamp(*call.input<int64_t>(1),
                                                   -rows - 1, columns + 1)
                                      : 0;
  const Element* x = call.input<Element>(0);
  Element* y = call.output<Element>(0);
  const int64_t row_count = shape.ElementCount(0, shape.rank() - 1);
  call.context.workers->ParallelFor(
      row_count, kGrainElements / (columns + 1) + 1,
      [=](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          // Columns [first, last) stay.
          const int64_t diagonal = row % rows + k;
          const int64_t first =
              is_upper ? std::clamp<int64_t>(diagonal, 0, columns) : 0;
          const int64_t last =
              is_upper ? columns
                       : std::clamp<int64_t>(diagonal + 1, 0, columns);
          const int64_t at = row * columns;
          std::fill(y + at, y + at + first, Element{0});
          if (x != y) {
            std::memcpy(y + at + first, x + at + first,
                        (last - first) * kElementBytes);
          }
          std::fill(y + at + last, y + at + columns, Element{0});
        }
      });
  return absl::OkStatus();
}

template absl::Status RunTrilu<1>(const KernelCall&);
template absl::Status RunTrilu<2>(const KernelCall&);
template absl::Status RunTrilu<4>(const KernelCall&);
template absl::Status RunTrilu<8>(const KernelCall&);

}  // namespace tensord
