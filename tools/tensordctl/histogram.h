#ifndef TENSORD_TOOLS_TENSORDCTL_HISTOGRAM_H_
#define TENSORD_TOOLS_TENSORDCTL_HISTOGRAM_H_

#include <cstdint>

#include "absl/types/optional.h"
#include "absl/types/span.h"

namespace tensord::ctl {

// An estimate of a quantile, in nanoseconds: the samples of a bucket are taken
// as spread evenly over it, as Prometheus' histogram_quantile() does, so that
// both show the same. In the last bucket, which has no upper bound, it is the
// lower one. `counts` has one more entry than `bounds_ns`. Absent without
// samples, or when the two do not go together.
absl::optional<double> QuantileNs(absl::Span<const int64_t> bounds_ns,
                                  absl::Span<const int64_t> counts,
                                  double quantile);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_HISTOGRAM_H_
