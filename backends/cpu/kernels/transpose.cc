// Transpose.
//
//   y[i0, i1, ...] = x[j0, j1, ...] with j[permutation[d]] = i[d]
//
// x and y are contiguous and different buffers. y is written in order, and x
// read with strides; where x's fastest dimension is not y's, both are walked in
// square tiles, so that each cache line of x is used while it is there.
// Elements are copied as bytes, so there is one kernel for each element size.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/kernels/plane_transpose.h"
#include "backends/cpu/kernels/strided_walk.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 16 * 1024;

using Walk = StridedWalk<1>;

Walk WalkOf(const KernelCall& call) {
  const Dims& permutation = std::get<TransposeParams>(call.params).permutation;
  const Layout& x = call.input_layout(0);
  const int rank = x.shape.rank();
  return Walk(call.output_layout(0).shape, [&](int, int d) {
    return x.strides[permutation.empty() ? rank - 1 - d : permutation[d]];
  });
}

// The dimension of the walk along which x is dense; -1 without one.
int DenseDimension(const Walk& walk) {
  for (int d = 0; d < walk.rank; ++d) {
    if (walk.strides[0][d] == 1) return d;
  }
  return -1;
}

// y [rows, y_stride] from x, whose element (r, c) is at r + c * x_stride.
template <typename Element>
void TransposeTile(const Element* x, int64_t x_stride, Element* y,
                   int64_t y_stride, int64_t rows, int64_t columns) {
  if constexpr (sizeof(Element) == 4) {
    TransposePlane(x, x_stride, columns, rows, y, y_stride);
    return;
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      y[r * y_stride + c] = x[r + c * x_stride];
    }
  }
}

// The walk with two of its dimensions, `dense` and the innermost, in tiles.
template <typename Element>
void RunTiled(WorkerPool& workers, const Walk& walk, int dense,
              const Element* x, Element* y) {
  constexpr int64_t kTile = 32;
  const int inner = walk.rank - 1;
  const int64_t rows = walk.extents[dense];
  const int64_t columns = walk.extents[inner];
  std::array<int64_t, kMaxRank> y_strides;
  int64_t y_stride = 1;
  for (int d = inner; d >= 0; --d) {
    y_strides[d] = y_stride;
    y_stride *= walk.extents[d];
  }
  int64_t planes = 1;
  for (int d = 0; d < inner; ++d) {
    if (d != dense) planes *= walk.extents[d];
  }
  const int64_t strips = (rows + kTile - 1) / kTile;
  workers.ParallelFor(planes * strips, kGrainElements / (kTile * columns) + 1,
                      [&](int64_t begin, int64_t end) {
                        for (int64_t task = begin; task < end; ++task) {
                          const int64_t first_row = task % strips * kTile;
                          int64_t rest = task / strips;
                          int64_t x_at = first_row;
                          int64_t y_at = first_row * y_strides[dense];
                          for (int d = inner - 1; d >= 0; --d) {
                            if (d == dense) continue;
                            const int64_t index = rest % walk.extents[d];
                            rest /= walk.extents[d];
                            x_at += index * walk.strides[0][d];
                            y_at += index * y_strides[d];
                          }
                          for (int64_t c = 0; c < columns; c += kTile) {
                            TransposeTile(x + x_at + c * walk.strides[0][inner],
                                          walk.strides[0][inner], y + y_at + c,
                                          y_strides[dense],
                                          std::min(kTile, rows - first_row),
                                          std::min(kTile, columns - c));
                          }
                        }
                      });
}

}  // namespace

template <int kElementBytes>
absl::Status RunTranspose(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  const Walk walk = WalkOf(call);
  const Element* x = call.input<Element>(0);
  Element* y = call.output<Element>(0);
  const int64_t elements = call.output_layout(0).shape.element_count();
  if (elements == 0) return absl::OkStatus();
  const int inner = walk.rank - 1;
  const int dense = DenseDimension(walk);
  if (dense >= 0 && dense != inner) {
    RunTiled(*call.context.workers, walk, dense, x, y);
    return absl::OkStatus();
  }
  // y's runs are x's; or x is a single element.
  call.context.workers->ParallelFor(
      elements, kGrainElements, [&](int64_t begin, int64_t end) {
        walk.ForRange(begin, end,
                      [&](int64_t at, const std::array<int64_t, 1>& offsets,
                          int64_t length) {
                        std::memcpy(y + at, x + offsets[0],
                                    length * kElementBytes);
                      });
      });
  return absl::OkStatus();
}

template absl::Status RunTranspose<1>(const KernelCall&);
template absl::Status RunTranspose<2>(const KernelCall&);
template absl::Status RunTranspose<4>(const KernelCall&);
template absl::Status RunTranspose<8>(const KernelCall&);

}  // namespace tensord
