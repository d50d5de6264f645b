#ifndef TENSORD_ENGINE_PROFILE_PHASE_PROFILE_H_
#define TENSORD_ENGINE_PROFILE_PHASE_PROFILE_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "backends/api/device_id.h"
#include "engine/profile/clock.h"
#include "engine/profile/striped_histograms.h"

namespace tensord::op_profile {

// The parts of a request's life. They do not overlap, so their sum is at most
// the request's time.
enum class Phase : uint8_t {
  kDecode,    // received bytes to graph or tensors
  kQueue,     // admitted, and waiting for a lane
  kCompile,   // passes, placement, plan, preparing kernels
  kUpload,    // host to device
  kRun,       // launching segments
  kWait,      // for the device to finish
  kDownload,  // device to host
  kEncode,    // tensors to the answer's bytes
};
inline constexpr int kPhaseCount = 8;

// "decode", "queue", ...
absl::string_view PhaseName(Phase phase);

struct PhaseRow {
  Phase phase = Phase::kDecode;
  // Absent for what ended before a device was chosen.
  std::optional<BackendId> backend;
  DurationHistogram durations;
};

// How long the phases took, by backend.
//
// Threading: thread-safe and lock-free; any number of threads may record.
class PhaseProfile {
 public:
  PhaseProfile() : durations_(kPhaseCount * (kBackendCount + 1)) {}

  void Add(Phase phase, std::optional<BackendId> backend,
           uint64_t duration_ns) {
    durations_.Add(RowIndex(phase, backend), duration_ns);
  }

  // Used rows, ordered by phase and then backend.
  std::vector<PhaseRow> Snapshot() const;

 private:
  static size_t RowIndex(Phase phase, std::optional<BackendId> backend) {
    return static_cast<size_t>(phase) * (kBackendCount + 1) +
           (backend.has_value() ? 1 + static_cast<size_t>(*backend) : 0);
  }

  StripedDurations durations_;
};

// Adds the time from its construction to its end to a phase. The backend may
// become known in between.
//
// Threading: confined to one thread; a phase that ends on another thread is
//   timed by its caller and goes to PhaseProfile::Add().
// Ownership: the profile outlives it; null records nothing.
class PhaseTimer {
 public:
  PhaseTimer(PhaseProfile* profile, Phase phase,
             std::optional<BackendId> backend = std::nullopt)
      : profile_(profile), phase_(phase), backend_(backend) {
    if (profile_ != nullptr) start_ticks_ = clock_.Now();
  }
  ~PhaseTimer() { Stop(); }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

  void set_backend(BackendId backend) { backend_ = backend; }

  // Ends the phase now; further calls do nothing.
  void Stop() {
    if (PhaseProfile* profile = std::exchange(profile_, nullptr)) {
      profile->Add(phase_, backend_,
                   clock_.ToNs(TickClock::Elapsed(start_ticks_, clock_.Now())));
    }
  }

 private:
  PhaseProfile* profile_;
  const Phase phase_;
  std::optional<BackendId> backend_;
  const TickClock clock_ = TickClock::Get();
  uint64_t start_ticks_ = 0;
};

}  // namespace tensord::op_profile

#endif  // TENSORD_ENGINE_PROFILE_PHASE_PROFILE_H_
