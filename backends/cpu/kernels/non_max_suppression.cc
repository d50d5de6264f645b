// NonMaxSuppression.
//
// For each batch and class: of the boxes whose score is above the threshold,
// the best that overlaps none taken before by more than the overlap threshold
// is taken, until none is left or there are as many as wanted. The overlap of
// two boxes is the area of their intersection over that of their union; a box
// without area overlaps nothing.
//
// boxes float32 [batch, boxes, 4], scores float32 [batch, classes, boxes], and
// scalars; y int64 [count, 3] of (batch, class, box), dense for its real count,
// which goes to the extent cells. All are contiguous. Of equal scores the box
// with the lower index comes first. A score that is NaN is never taken, and an
// overlap threshold outside [0, 1] is kInvalidArgument.

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/extent_cells.h"
#include "backends/cpu/kernels/is_stopped.h"

namespace tensord {
namespace {

struct Box {
  float low_y, low_x, high_y, high_x;

  float Area() const { return (high_y - low_y) * (high_x - low_x); }
};

Box BoxAt(const float* numbers, bool has_centres) {
  if (has_centres) {
    const float half_width = numbers[2] / 2;
    const float half_height = numbers[3] / 2;
    return {numbers[1] - half_height, numbers[0] - half_width,
            numbers[1] + half_height, numbers[0] + half_width};
  }
  return {std::min(numbers[0], numbers[2]), std::min(numbers[1], numbers[3]),
          std::max(numbers[0], numbers[2]), std::max(numbers[1], numbers[3])};
}

bool OverlapsBy(const Box& a, const Box& b, float threshold) {
  const float height =
      std::min(a.high_y, b.high_y) - std::max(a.low_y, b.low_y);
  const float width = std::min(a.high_x, b.high_x) - std::max(a.low_x, b.low_x);
  if (!(height > 0) || !(width > 0)) return false;
  const float area_a = a.Area();
  const float area_b = b.Area();
  if (!(area_a > 0) || !(area_b > 0)) return false;
  const float intersection = height * width;
  return intersection / (area_a + area_b - intersection) > threshold;
}

struct Arguments {
  int64_t most = 0;
  float overlap = 0;
  bool has_least_score = false;
  float least_score = 0;

  explicit Arguments(const KernelCall& call) {
    if (call.has_input(2)) most = *call.input<int64_t>(2);
    if (call.has_input(3)) overlap = *call.input<float>(3);
    has_least_score = call.has_input(4);
    if (has_least_score) least_score = *call.input<float>(4);
  }

  bool Admits(float score) const {
    return has_least_score ? score > least_score : score == score;
  }
};

}  // namespace

// The candidates of one class.
uint64_t NonMaxSuppressionWorkspaceBytes(const NodeSite& site) {
  return static_cast<uint64_t>(site.input(0).shape[1]) * sizeof(int64_t);
}

absl::Status RunNonMaxSuppression(const KernelCall& call) {
  const Arguments arguments(call);
  if (!(arguments.overlap >= 0 && arguments.overlap <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the overlap threshold is ", arguments.overlap, ", outside [0, 1]"));
  }
  const bool has_centres =
      std::get<NonMaxSuppressionParams>(call.params).has_centres;
  const Shape& scores_shape = call.input_layout(1).shape;
  const int64_t classes = scores_shape[1];
  const int64_t boxes = scores_shape[2];
  int64_t* y = call.output<int64_t>(0);
  int64_t count = 0;
  for (int64_t task = 0; boxes > 0 && task < scores_shape[0] * classes;
       ++task) {
    const float* scores = call.input<float>(1) + task * boxes;
    const float* numbers = call.input<float>(0) + task / classes * boxes * 4;
    auto* candidates =
        reinterpret_cast<int64_t*>(call.context.workspace.address());
    int64_t candidate_count = 0;
    for (int64_t i = 0; i < boxes; ++i) {
      if (arguments.Admits(scores[i])) candidates[candidate_count++] = i;
    }
    std::sort(candidates, candidates + candidate_count,
              [scores](int64_t a, int64_t b) {
                return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
              });
    const int64_t first = count;
    for (int64_t k = 0; k < candidate_count && count - first < arguments.most;
         ++k) {
      if (IsStopped(call.context)) return StoppedError();
      const Box box = BoxAt(numbers + candidates[k] * 4, has_centres);
      bool is_suppressed = false;
      for (int64_t taken = first; taken < count && !is_suppressed; ++taken) {
        is_suppressed =
            OverlapsBy(box, BoxAt(numbers + y[taken * 3 + 2] * 4, has_centres),
                       arguments.overlap);
      }
      if (is_suppressed) continue;
      y[count * 3] = task / classes;
      y[count * 3 + 1] = task % classes;
      y[count * 3 + 2] = candidates[k];
      ++count;
    }
  }
  ExtentCells(call.context).Write({count, 3});
  return absl::OkStatus();
}

}  // namespace tensord
