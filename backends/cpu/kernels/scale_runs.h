#ifndef TENSORD_BACKENDS_CPU_KERNELS_SCALE_RUNS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_SCALE_RUNS_H_

#include <algorithm>
#include <cstdint>

#include "backends/api/host_services.h"
#include "backends/api/op_params.h"
#include "backends/api/shape.h"

namespace tensord {

// How the elements of a tensor share scales: x cut into stretches of
// neighbours, each of which has one scale, or scales that are neighbours too.
//
// Everything is in this header, so that a kernel's revision covers it.
class ScaleRuns {
 public:
  ScaleRuns(const QuantizeParams& params, const Shape& x, const Shape& scale) {
    const int64_t count = x.element_count();
    if (scale.element_count() == 1) {
      length_ = kPiece;
      row_ = count;
      rows_ = 1;
      return;
    }
    const int axis = static_cast<int>(params.axis < 0 ? params.axis + x.rank()
                                                      : params.axis);
    const int64_t extent = x[axis];
    const int64_t outer = x.ElementCount(0, axis);
    const int64_t inner = x.ElementCount(axis + 1, x.rank());
    if (params.block_size == 0) {
      if (inner == 1) {  // the scales lie beside the elements
        SetRows(outer, extent, extent, 1);
        return;
      }
      SetRows(outer * extent, inner, inner, 0);
      scale_rows_ = extent;
      return;
    }
    block_ = params.block_size;
    if (inner == 1) {  // one scale for each block of a row
      SetRows(outer, extent, std::min(block_, std::max<int64_t>(extent, 1)), 0);
      blocks_ = scale[axis];
      is_blocked_row_ = true;
      return;
    }
    SetRows(outer * extent, inner, inner, 1);
    extent_ = extent;
    blocks_ = scale[axis];
  }

  // The scale of the element i of x.
  int64_t IndexOf(int64_t i) const {
    const int64_t row = i / row_;
    const int64_t within = i % row_;
    return ScaleIndex(row, within / length_) + within % length_ * stride_;
  }

  // Calls body(x index, count, scale index, scale stride) for all stretches.
  template <typename Body>
  void ForEach(WorkerPool& workers, Body body) const {
    if (rows_ == 0 || row_ == 0) return;  // and lengths may be 0
    const int64_t pieces = (row_ + length_ - 1) / length_;
    workers.ParallelFor(
        rows_ * pieces, kGrain / length_ + 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t row = i / pieces;
            const int64_t piece = i % pieces;
            const int64_t first = piece * length_;
            body(row * row_ + first, std::min(length_, row_ - first),
                 ScaleIndex(row, piece), stride_);
          }
        });
  }

 private:
  static constexpr int64_t kPiece = 4096;
  static constexpr int64_t kGrain = 16 * 1024;

  void SetRows(int64_t rows, int64_t row, int64_t length, int64_t stride) {
    rows_ = rows;
    row_ = row;
    length_ = length;
    stride_ = stride;
  }

  int64_t ScaleIndex(int64_t row, int64_t piece) const {
    if (is_blocked_row_) return row * blocks_ + piece;
    if (extent_ != 0) {  // of [outer, blocks, inner]
      return (row / extent_ * blocks_ + row % extent_ / block_) * row_;
    }
    return scale_rows_ == 0 ? 0 : row % scale_rows_;
  }

  int64_t rows_ = 0;
  int64_t row_ = 0;     // elements of a row
  int64_t length_ = 1;  // of a stretch
  int64_t stride_ = 0;
  int64_t scale_rows_ = 0;  // rows that have a scale each
  int64_t block_ = 0;
  int64_t blocks_ = 0;
  int64_t extent_ = 0;
  bool is_blocked_row_ = false;
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_SCALE_RUNS_H_
