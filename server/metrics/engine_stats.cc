#include "server/metrics/engine_stats.h"

#include <string>

namespace tensord::metrics {
namespace {

void CollectDevice(const DeviceStats& stats, Page& page) {
  const std::string device = stats.device.ToString();
  page.Add(MetricId::kExecutionsInFlight, {device}, stats.executions_in_flight);
  page.Add(MetricId::kDeviceLanes, {device}, stats.lanes);
  page.Add(MetricId::kQueueDepth, {device}, stats.queue_depth);
  page.Add(MetricId::kQueueLimit, {device}, stats.queue_limit);
  page.Add(MetricId::kQueueBytes, {device}, stats.queue_bytes);
  page.Add(MetricId::kDeviceUp, {device}, stats.is_up ? 1 : 0);
  page.Add(MetricId::kDeviceFaults, {device}, stats.faults);
  if (stats.queue_wait.has_value()) {
    page.Add(MetricId::kQueueWait, {device}, *stats.queue_wait);
  }
  for (const auto& [kind, bytes] : stats.memory_bytes) {
    page.Add(MetricId::kDeviceMemory, {device, kind}, bytes);
  }
  for (const auto& [direction, bytes] : stats.transfer_bytes) {
    page.Add(MetricId::kTransferBytes, {device, direction}, bytes);
  }
}

void CollectTuning(const TuningStats& stats, Page& page) {
  for (const auto& [outcome, count] : stats.decisions) {
    page.Add(MetricId::kTuningDecisions, {outcome}, count);
  }
  page.Add(MetricId::kTuningDisagreements, {}, stats.disagreements);
  page.Add(MetricId::kTuningSeconds, {}, stats.seconds);
  page.Add(MetricId::kTuningRemembered, {}, stats.remembered);
}

}  // namespace

void Collect(const EngineStats& stats, Page& page) {
  for (const DeviceStats& device : stats.devices) CollectDevice(device, page);
  if (stats.graph_cache.has_value()) {
    page.Add(MetricId::kGraphCacheHits, {}, stats.graph_cache->hits);
    page.Add(MetricId::kGraphCacheMisses, {}, stats.graph_cache->misses);
    page.Add(MetricId::kGraphCacheEvictions, {}, stats.graph_cache->evictions);
    page.Add(MetricId::kGraphCacheBytes, {}, stats.graph_cache->bytes);
  }
  if (stats.tuning.has_value()) CollectTuning(*stats.tuning, page);
  for (const auto& [phase, durations] : stats.compile_durations) {
    page.Add(MetricId::kCompileDuration, {phase}, durations);
  }
}

}  // namespace tensord::metrics
