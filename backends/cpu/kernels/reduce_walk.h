#ifndef TENSORD_BACKENDS_CPU_KERNELS_REDUCE_WALK_H_
#define TENSORD_BACKENDS_CPU_KERNELS_REDUCE_WALK_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "backends/api/shape.h"

namespace tensord {

using DimensionMask = std::array<bool, kMaxRank>;

// Marks each axis, which may be negative. kInvalidArgument for one out of range
// or given twice: computed axes are only seen at the run.
inline absl::Status MarkAxes(absl::Span<const int64_t> axes, int rank,
                             DimensionMask& mask) {
  for (int64_t axis : axes) {
    if (axis < -rank || axis >= rank) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axis, " is outside [", -rank, ", ", rank, ")"));
    }
    bool& marked = mask[axis < 0 ? axis + rank : axis];
    if (marked) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axis, " is given twice"));
    }
    marked = true;
  }
  return absl::OkStatus();
}

// How a contiguous tensor is walked when some of its dimensions are reduced:
// dimensions of extent 1 are dropped and neighbours of one kind are merged, so
// that the innermost runs are as long as they can be.
//
// Threading and ownership: a plain value; no memory beyond itself.
class ReduceWalk {
 public:
  ReduceWalk(const Shape& shape, const DimensionMask& is_reduced) {
    int64_t stride = 1;
    int previous = -1;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      if (shape[d] == 1) continue;
      Dimensions& dimensions = is_reduced[d] ? reduced_ : kept_;
      if (previous == (is_reduced[d] ? 1 : 0)) {
        dimensions.extents[dimensions.rank - 1] *= shape[d];
      } else {
        dimensions.extents[dimensions.rank] = shape[d];
        dimensions.strides[dimensions.rank++] = stride;
        previous = is_reduced[d] ? 1 : 0;
      }
      dimensions.count *= shape[d];
      stride *= shape[d];
    }
    // Dimension 0 is the innermost of its kind.
    if (kept_.rank > 0 && kept_.strides[0] == 1) {
      kept_run_ = kept_.extents[0];
    } else if (reduced_.rank > 0) {
      reduced_run_ = reduced_.extents[0];
      first_walked_ = 1;
    }
  }

  int64_t output_count() const { return kept_.count; }
  int64_t reduced_count() const { return reduced_.count; }

  // Outputs whose elements lie side by side: a group of so many that starts at
  // a multiple. 1 where the innermost dimension is reduced.
  int64_t kept_run() const { return kept_run_; }
  // Elements side by side that are reduced to one output. 1 where the innermost
  // dimension is kept. At most one of the two runs is above 1.
  int64_t reduced_run() const { return reduced_run_; }

  // Where in the input the first element of an output is.
  int64_t OffsetOf(int64_t output) const {
    int64_t offset = 0;
    for (int d = 0; d < kept_.rank; ++d) {
      offset += output % kept_.extents[d] * kept_.strides[d];
      output /= kept_.extents[d];
    }
    return offset;
  }

  // Calls visit(offset) for each run of `reduced_run` elements that one output
  // is made of, in the input's order; offsets count from OffsetOf(output).
  template <typename Visit>
  void ForEachRun(Visit visit) const {
    if (reduced_.count == 0) return;
    std::array<int64_t, kMaxRank> index{};
    int64_t offset = 0;
    while (true) {
      visit(offset);
      int d = first_walked_;
      for (; d < reduced_.rank; ++d) {
        offset += reduced_.strides[d];
        if (++index[d] < reduced_.extents[d]) break;
        offset -= reduced_.extents[d] * reduced_.strides[d];
        index[d] = 0;
      }
      if (d == reduced_.rank) return;
    }
  }

 private:
  struct Dimensions {
    int rank = 0;
    int64_t count = 1;
    std::array<int64_t, kMaxRank> extents;
    std::array<int64_t, kMaxRank> strides;
  };

  Dimensions kept_;
  Dimensions reduced_;
  int64_t kept_run_ = 1;
  int64_t reduced_run_ = 1;
  int first_walked_ = 0;  // of reduced_: 1 when the innermost is a run
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_REDUCE_WALK_H_
