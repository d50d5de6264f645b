#ifndef TENSORD_SERVER_RPC_ENGINE_OBSERVER_H_
#define TENSORD_SERVER_RPC_ENGINE_OBSERVER_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "backends/api/device_id.h"
#include "engine/engine.h"
#include "engine/profile/striped_histograms.h"
#include "server/metrics/engine_stats.h"

namespace tensord {

// The engine as the metrics page shows it: what it says about itself, and two
// histograms that only their events can fill.
//
// Threading: thread-safe; recording takes no lock.
// Ownership: outlives the engine that it observes and the calls that record.
class EngineObserver {
 public:
  // `max_queue_length` is the engine's own, for the page.
  explicit EngineObserver(
      int64_t max_queue_length = EngineOptions().max_queue_length);

  // How long an execution of the device waited for a lane.
  void RecordQueueWait(DeviceId device, uint64_t duration_ns);
  // For Engine::SetCompileObserver.
  void RecordCompilation(const CompileEvent& event);

  metrics::EngineStats Stats(const Engine& engine) const;

 private:
  const int64_t max_queue_length_;
  op_profile::StripedDurations queue_waits_;
  op_profile::StripedDurations compilations_;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_ENGINE_OBSERVER_H_
