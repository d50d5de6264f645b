#ifndef TENSORD_SERVER_METRICS_ENGINE_STATS_H_
#define TENSORD_SERVER_METRICS_ENGINE_STATS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "backends/api/device_id.h"
#include "engine/profile/duration_buckets.h"
#include "server/metrics/page.h"

namespace tensord::metrics {

// What the engine says about itself when a scrape asks. What is absent is not
// on the page. Texts are constants of the program, from closed lists: they
// become label values.
//
// Threading and ownership: plain values.
struct DeviceStats {
  DeviceId device;
  bool is_up = true;
  uint64_t executions_in_flight = 0;
  uint64_t lanes = 0;
  uint64_t queue_depth = 0;
  uint64_t queue_limit = 0;
  uint64_t queue_bytes = 0;
  uint64_t faults = 0;  // only grows
  std::optional<op_profile::DurationHistogram> queue_wait;
  // By kind: "total", "used", "arena", "weights", ...
  std::vector<std::pair<absl::string_view, uint64_t>> memory_bytes;
  // By direction: "upload", "download", "peer"; only grow.
  std::vector<std::pair<absl::string_view, uint64_t>> transfer_bytes;
};

struct GraphCacheStats {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t evictions = 0;
  uint64_t bytes = 0;
};

struct TuningStats {
  // By outcome: "faster", "kept", "skipped", "failed"; only grow.
  std::vector<std::pair<absl::string_view, uint64_t>> decisions;
  uint64_t disagreements = 0;
  double seconds = 0;
  uint64_t remembered = 0;
};

struct EngineStats {
  std::vector<DeviceStats> devices;
  std::optional<GraphCacheStats> graph_cache;
  std::optional<TuningStats> tuning;
  // By phase of compiling: "infer", "passes", "bind", "plan", "prepare", ...
  std::vector<std::pair<absl::string_view, op_profile::DurationHistogram>>
      compile_durations;
};

// Called by each scrape, on a thread of the metrics server, perhaps two at
// once: thread-safe, quick, throws nothing, waits for no device.
using EngineStatsProvider = std::function<EngineStats()>;

void Collect(const EngineStats& stats, Page& page);

}  // namespace tensord::metrics

#endif  // TENSORD_SERVER_METRICS_ENGINE_STATS_H_
