#include "server/metrics/metrics_collector.h"

#include <utility>

#include "server/metrics/page.h"
#include "server/metrics/process_stats.h"
#include "server/metrics/profile_metrics.h"

namespace tensord::metrics {

MetricsCollector::MetricsCollector(MetricSources sources)
    : sources_(std::move(sources)),
      profile_budget_(kMaxProfileSeries),
      budget_(kMaxSeries - kMaxProfileSeries - kExposerSeries) {}

std::vector<prometheus::MetricFamily> MetricsCollector::Collect() const {
  // Another module's code, so it runs before the lock is taken.
  EngineStats engine_stats;
  if (sources_.engine_stats) engine_stats = sources_.engine_stats();
  HoldingsStats holdings;
  if (sources_.holdings_stats) holdings = sources_.holdings_stats();

  absl::MutexLock lock(&mu_);
  Page page(budget_);
  const BuildInfo& build = sources_.build_info;
  page.Add(MetricId::kBuildInfo,
           {build.version, build.revision, build.compiler, build.build_type},
           1);
  CollectProcess(page);
  if (sources_.executions != nullptr) sources_.executions->Collect(page);
  metrics::Collect(engine_stats, page);
  if (sources_.holdings_stats) {
    page.Add(MetricId::kSessions, {}, holdings.sessions);
    page.Add(MetricId::kResidentTensors, {}, holdings.resident_tensors);
    page.Add(MetricId::kResidentBytes, {}, holdings.resident_bytes);
  }
  if (sources_.phases != nullptr) {
    CollectPhases(sources_.phases->Snapshot(), page);
  }
  if (sources_.requests != nullptr) sources_.requests->Collect(page);
  // Taken under the lock: of two scrapes, the one that is answered later has
  // not read earlier.
  if (sources_.op_profile != nullptr) {
    CollectProfile(sources_.op_profile->Snapshot(), profile_budget_, page);
  }
  page.Add(MetricId::kMetricsFoldedRows, {},
           static_cast<double>(profile_budget_.refused_rows() +
                               budget_.refused_rows()));
  // One more for this row itself, which the first scrape has not counted yet.
  const size_t others = profile_budget_.used() + budget_.used();
  page.Add(MetricId::kMetricsSeries, {},
           static_cast<double>(others + (is_counted_ ? 0 : 1)));
  is_counted_ = true;
  return std::move(page).Finish();
}

}  // namespace tensord::metrics
