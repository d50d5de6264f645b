#ifndef TENSORD_SERVER_METRICS_PAGE_H_
#define TENSORD_SERVER_METRICS_PAGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/profile/duration_buckets.h"
#include "prometheus/metric_family.h"
#include "server/metrics/byte_buckets.h"
#include "server/metrics/metric_names.h"
#include "server/metrics/series_budget.h"

namespace tensord::metrics {

// Series of a histogram: a bucket for each edge and for +Inf, _sum and _count.
inline constexpr size_t kHistogramSeries = op_profile::kDurationEdgeCount + 3;

// The metric families of one scrape, being put together. Label values are given
// in the order of the metric's label names.
//
// Threading: confined to one thread. Ownership: the budget outlives it.
class Page {
 public:
  using Labels = std::initializer_list<absl::string_view>;

  explicit Page(SeriesBudget& budget);

  // Adds a row, and says whether it did: not if `budget` (the page's own where
  // none is named) does not admit it.
  bool Add(MetricId id, Labels labels, double value,
           SeriesBudget* budget = nullptr);
  bool Add(MetricId id, Labels labels,
           const op_profile::DurationHistogram& durations,
           SeriesBudget* budget = nullptr);
  // Bytes, in the buckets of ByteBuckets.
  bool Add(MetricId id, Labels labels,
           const std::array<uint64_t, ByteBuckets::kBucketCount>& counts,
           uint64_t sum_bytes);

  // Families with at least one series, in the order of the list of metrics.
  std::vector<prometheus::MetricFamily> Finish() &&;

 private:
  // Null if the row is not admitted.
  prometheus::ClientMetric* NewRow(MetricId id, Labels labels,
                                   SeriesBudget* budget);
  prometheus::MetricFamily& family(MetricId id) {
    return families_[static_cast<size_t>(id)];
  }

  SeriesBudget& budget_;
  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace tensord::metrics

#endif  // TENSORD_SERVER_METRICS_PAGE_H_
