#include "server/rpc/engine_observer.h"

#include <algorithm>
#include <array>
#include <optional>

#include "absl/time/time.h"

namespace tensord {
namespace {

// Ordinals of one backend that have a histogram of their own.
constexpr size_t kMaxOrdinals = 64;

// What CompileEvent::phase may be.
constexpr std::array<absl::string_view, 3> kPhases = {"load", "plan",
                                                      "prepare"};

std::optional<size_t> RowOf(DeviceId device) {
  if (device.ordinal >= kMaxOrdinals) return std::nullopt;
  return static_cast<size_t>(device.backend) * kMaxOrdinals + device.ordinal;
}

}  // namespace

EngineObserver::EngineObserver(int64_t max_queue_length)
    : max_queue_length_(max_queue_length),
      queue_waits_(kBackendCount * kMaxOrdinals),
      compilations_(kPhases.size()) {}

void EngineObserver::RecordQueueWait(DeviceId device, uint64_t duration_ns) {
  if (const auto row = RowOf(device); row.has_value()) {
    queue_waits_.Add(*row, duration_ns);
  }
}

void EngineObserver::RecordCompilation(const CompileEvent& event) {
  const auto phase = std::find(kPhases.begin(), kPhases.end(), event.phase);
  if (phase == kPhases.end()) return;
  compilations_.Add(static_cast<size_t>(phase - kPhases.begin()),
                    static_cast<uint64_t>(std::max<int64_t>(
                        0, absl::ToInt64Nanoseconds(event.duration))));
}

metrics::EngineStats EngineObserver::Stats(const Engine& engine) const {
  metrics::EngineStats stats;
  for (const DeviceStatus& status : engine.Devices()) {
    metrics::DeviceStats& device = stats.devices.emplace_back();
    device.device = status.info.id;
    device.is_up = status.health.ok() && !status.is_draining;
    device.executions_in_flight = static_cast<uint64_t>(status.in_flight);
    device.lanes = static_cast<uint64_t>(status.lane_count);
    device.queue_depth = static_cast<uint64_t>(status.queue_depth);
    device.queue_limit = static_cast<uint64_t>(max_queue_length_);
    device.queue_bytes = status.queued_bytes;
    device.faults = status.faults;
    // These rows, and those of compiling below, are there before the first
    // event: what Prometheus sees appear with a count has no rate.
    if (const auto row = RowOf(status.info.id); row.has_value()) {
      device.queue_wait = op_profile::ReadDurations(queue_waits_, *row);
    }
    device.memory_bytes = {{"limit", status.info.memory_limit_bytes},
                           {"used", status.allocated_bytes},
                           {"weights", status.weight_bytes}};
    if (!status.info.is_host_addressable) {
      device.transfer_bytes = {{"upload", status.uploaded_bytes},
                               {"download", status.downloaded_bytes}};
    }
  }
  const GraphCacheStats cache = engine.CacheStats();
  stats.graph_cache = metrics::GraphCacheStats{cache.hits, cache.misses,
                                               cache.evictions, cache.bytes};
  const TuningStats tuning = engine.Tuning();
  if (tuning.is_on) {
    stats.tuning = metrics::TuningStats{{{"faster", tuning.faster},
                                         {"kept", tuning.kept},
                                         {"skipped", tuning.skipped},
                                         {"failed", tuning.failed}},
                                        tuning.disagreements,
                                        absl::ToDoubleSeconds(tuning.spent),
                                        tuning.remembered};
  }
  for (size_t i = 0; i < kPhases.size(); ++i) {
    stats.compile_durations.emplace_back(
        kPhases[i], op_profile::ReadDurations(compilations_, i));
  }
  return stats;
}

}  // namespace tensord
