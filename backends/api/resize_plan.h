#ifndef TENSORD_BACKENDS_API_RESIZE_PLAN_H_
#define TENSORD_BACKENDS_API_RESIZE_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "backends/api/kernel.h"
#include "backends/api/resize_axis.h"
#include "backends/api/resize_extents.h"

// What Resize and Upsample do to each dimension, from a node's parameters and
// from what is known of its inputs: the same on every backend.
namespace tensord {

namespace resize_internal {

inline const ResizeParams& ParamsOf(const NodeSite& site) {
  return std::get<ResizeParams>(site.params);
}

// An empty tensor stands for an absent one.
inline bool IsGiven(const NodeSite& site, int i) {
  return i > 0 && site.has_input(i) && site.input(i).shape.element_count() > 0;
}

template <typename T>
absl::Span<const T> Values(const NodeSite& site, int i) {
  if (!IsGiven(site, i)) return {};
  return {reinterpret_cast<const T*>(site.host_constant(i)),
          static_cast<size_t>(site.input(i).shape.element_count())};
}

inline std::vector<int> ResizedDimensions(const ResizeParams& params,
                                          int rank) {
  std::vector<int> dimensions;
  for (int64_t axis : params.axes) {
    dimensions.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
  }
  if (dimensions.empty()) {
    for (int d = 0; d < rank; ++d) dimensions.push_back(d);
  }
  return dimensions;
}

}  // namespace resize_internal

// All dimensions, those that shrink most first, so that the rest has less to
// do.
inline std::vector<int> OrderOfPasses(const Shape& x, const Shape& y) {
  std::vector<int> order;
  for (int d = 0; d < x.rank(); ++d) order.push_back(d);
  const auto growth = [&](int d) {
    return static_cast<double>(y[d]) / static_cast<double>(x[d]);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return growth(a) < growth(b); });
  return order;
}

// Threading and ownership: a plain value.
struct ResizePlan {
  std::vector<ResizeAxis> axes;  // by dimension
  std::vector<int> passes;       // dimensions that change, in their order
  bool has_outside = false;      // outputs with the extrapolation value

  ResizePlan() = default;

  // AcceptsArguments() has accepted the site, whose shapes are known.
  explicit ResizePlan(const NodeSite& site) {
    const ResizeParams& params = resize_internal::ParamsOf(site);
    const Shape& x = site.input(0).shape;
    const Shape& y = site.output(0).shape;
    const std::vector<int> dimensions =
        resize_internal::ResizedDimensions(params, x.rank());
    const ResizeExtents resized(
        x, params.policy, dimensions,
        resize_internal::Values<float>(site, params.scales_input),
        resize_internal::Values<int64_t>(site, params.sizes_input));
    const absl::Span<const float> region =
        params.coordinates == ResizeCoordinates::kTfCropAndResize
            ? resize_internal::Values<float>(site, params.roi_input)
            : absl::Span<const float>();
    // Beside an extent of 0 another may be as large as a client likes: its
    // table would not be.
    if (y.element_count() == 0) return;
    axes.resize(x.rank());
    for (int d = 0; d < x.rank(); ++d) {
      ResizeAxisSpec spec{x[d], y[d], resized.scales[d]};
      const auto at = std::find(dimensions.begin(), dimensions.end(), d);
      if (at == dimensions.end()) {
        // Not resized, whatever the coordinate mode makes of a scale of 1.
        axes[d] = ResizeAxis::Identity(x[d]);
        continue;
      }
      if (!region.empty()) {
        const size_t i = at - dimensions.begin();
        spec.region_begin = region[i];
        spec.region_end = region[i + dimensions.size()];
      }
      axes[d] = ResizeAxis(params, spec);
      if (!axes[d].is_outside.empty()) has_outside = true;
    }
    for (int d : OrderOfPasses(x, y)) {
      if (!axes[d].is_identity) passes.push_back(d);
    }
  }

  // Whether the scales, the sizes and the region are known before the run:
  // kFailedPrecondition for the one that is not.
  static absl::Status AcceptsArguments(const NodeSite& site) {
    const ResizeParams& params = resize_internal::ParamsOf(site);
    if (site.layouts.empty()) return absl::OkStatus();
    for (int i : {params.roi_input, params.scales_input, params.sizes_input}) {
      const bool is_read =
          i != params.roi_input ||
          params.coordinates == ResizeCoordinates::kTfCropAndResize;
      if (is_read && resize_internal::IsGiven(site, i) &&
          site.host_constant(i) == nullptr) {
        return absl::FailedPreconditionError(
            absl::StrCat("input ", i, " is not known before the run"));
      }
    }
    return absl::OkStatus();
  }

  // Bytes of the tables.
  uint64_t footprint_bytes() const {
    uint64_t bytes =
        axes.capacity() * sizeof(ResizeAxis) + passes.capacity() * sizeof(int);
    for (const ResizeAxis& axis : axes) {
      bytes += axis.indices.capacity() * sizeof(int64_t) +
               axis.weights.capacity() * sizeof(float) +
               axis.is_outside.capacity() / 8;
    }
    return bytes;
  }
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_RESIZE_PLAN_H_
