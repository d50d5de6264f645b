#ifndef TENSORD_BACKENDS_API_RESIZE_EXTENTS_H_
#define TENSORD_BACKENDS_API_RESIZE_EXTENTS_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "absl/types/span.h"
#include "backends/api/op_params.h"
#include "backends/api/shape.h"

namespace tensord {

// What Resize makes of each dimension of its input: the extent, and the scale
// that coordinates are computed with. Dimensions that are not resized keep
// their extent at a scale of 1.
//
// Threading and ownership: a plain value.
struct ResizeExtents {
  std::array<int64_t, kMaxRank> extents;
  std::array<double, kMaxRank> scales;

  // `dimensions` are the resized ones, [0, rank) each; one scale for each, or
  // else one size for each. Numbers are checked: scales above 0 and finite,
  // sizes at least 0.
  ResizeExtents(const Shape& x, ResizePolicy policy,
                absl::Span<const int> dimensions,
                absl::Span<const float> given_scales,
                absl::Span<const int64_t> sizes) {
    for (int d = 0; d < x.rank(); ++d) {
      extents[d] = x[d];
      scales[d] = 1;
    }
    if (!given_scales.empty()) {
      for (size_t i = 0; i < dimensions.size(); ++i) {
        const int d = dimensions[i];
        scales[d] = given_scales[i];
        extents[d] = ByScale(x[d], given_scales[i]);
      }
      return;
    }
    const double common = CommonScale(x, policy, dimensions, sizes);
    for (size_t i = 0; i < dimensions.size(); ++i) {
      const int d = dimensions[i];
      if (policy == ResizePolicy::kStretch) {
        extents[d] = sizes[i];
        scales[d] = x[d] == 0 ? 1 : static_cast<double>(sizes[i]) / x[d];
      } else {
        // Halves are rounded up.
        extents[d] = static_cast<int64_t>(std::floor(common * x[d] + 0.5));
        scales[d] = common;
      }
    }
  }

  // In float32, as the runtimes do that exported models were made with: 10
  // pixels scaled by 0.7f are 7. Clamped where no shape can follow.
  static int64_t ByScale(int64_t extent, float scale) {
    const float scaled = std::floor(static_cast<float>(extent) * scale);
    return scaled >= static_cast<float>(kMaxElementCount)
               ? kMaxElementCount
               : static_cast<int64_t>(scaled);
  }

 private:
  static double CommonScale(const Shape& x, ResizePolicy policy,
                            absl::Span<const int> dimensions,
                            absl::Span<const int64_t> sizes) {
    double common = policy == ResizePolicy::kNotLarger ? HUGE_VAL : 0;
    for (size_t i = 0; i < dimensions.size(); ++i) {
      const int64_t extent = x[dimensions[i]];
      if (extent == 0) continue;
      const double scale = static_cast<double>(sizes[i]) / extent;
      common = policy == ResizePolicy::kNotLarger ? std::min(common, scale)
                                                  : std::max(common, scale);
    }
    return std::isfinite(common) ? common : 1;
  }
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_RESIZE_EXTENTS_H_
