#ifndef TENSORD_SERVER_METRICS_METRICS_COLLECTOR_H_
#define TENSORD_SERVER_METRICS_METRICS_COLLECTOR_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "engine/profile/op_profile.h"
#include "engine/profile/phase_profile.h"
#include "prometheus/collectable.h"
#include "server/metrics/engine_stats.h"
#include "server/metrics/execution_metrics.h"
#include "server/metrics/holdings_stats.h"
#include "server/metrics/request_metrics.h"
#include "server/metrics/series_budget.h"

namespace tensord::metrics {

struct BuildInfo {
  std::string version;
  std::string revision;
  std::string compiler;
  std::string build_type;
};

// Where a page's numbers come from. A null source has no metrics.
// Ownership: borrows; everything outlives the collector.
struct MetricSources {
  const op_profile::OpProfile* op_profile = nullptr;
  const op_profile::PhaseProfile* phases = nullptr;
  const RequestMetrics* requests = nullptr;
  const ExecutionMetrics* executions = nullptr;
  EngineStatsProvider engine_stats;
  HoldingsStatsProvider holdings_stats;
  BuildInfo build_info;
};

// The page of metrics. Nothing is kept here but which series exist: each scrape
// reads the sources, so the paths of requests and launches know nothing of
// Prometheus.
//
// Threading: thread-safe; scrapes take turns.
class MetricsCollector : public prometheus::Collectable {
 public:
  // A process has at most this many series. The profile's part is its own, so
  // that many operators cannot push the requests' metrics off the page.
  static constexpr size_t kMaxSeries = 12'000;
  static constexpr size_t kMaxProfileSeries = 8'000;
  // exposer_*: ten for each page that is served.
  static constexpr size_t kExposerSeries = 20;

  explicit MetricsCollector(MetricSources sources);

  std::vector<prometheus::MetricFamily> Collect() const override
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const MetricSources sources_;
  mutable absl::Mutex mu_;
  mutable SeriesBudget profile_budget_ ABSL_GUARDED_BY(mu_);
  mutable SeriesBudget budget_ ABSL_GUARDED_BY(mu_);
  // Whether the budget knows the row that shows the budget.
  mutable bool is_counted_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace tensord::metrics

#endif  // TENSORD_SERVER_METRICS_METRICS_COLLECTOR_H_
