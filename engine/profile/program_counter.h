#ifndef TENSORD_ENGINE_PROFILE_PROGRAM_COUNTER_H_
#define TENSORD_ENGINE_PROFILE_PROGRAM_COUNTER_H_

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/api/device_id.h"
#include "engine/profile/shard.h"

namespace tensord::op_profile {

// What one replay of a program launches for one slot.
struct ProgramLaunches {
  uint32_t slot = kNoSlot;
  uint64_t launches = 0;
  uint64_t bytes = 0;
};

// The exact launches of a recorded program: a replay adds one here, and a
// scrape multiplies by the program's fixed counts. Counting the nodes at each
// replay would cost what recording saved.
//
// Threading: AddReplay() from any thread, so lanes may share a program.
// Ownership: whoever owns the program (OpProfile::CreateProgram). Its
//   destructor folds its launches into the profile's totals, so evicting a
//   program makes no counter fall. The profile outlives it.
class ProgramCounter {
 public:
  ~ProgramCounter();
  ProgramCounter(const ProgramCounter&) = delete;
  ProgramCounter& operator=(const ProgramCounter&) = delete;

  // What the replay itself is charged to.
  const LaunchSite& site() const { return site_; }

  void AddReplay() { replays_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t replays() const { return replays_.load(std::memory_order_relaxed); }

 private:
  friend class OpProfile;

  ProgramCounter(OpProfile& profile, DeviceId device, uint32_t replay_slot,
                 std::vector<ProgramLaunches> per_replay)
      : profile_(profile), device_(device), per_replay_(std::move(per_replay)) {
    site_.slot = replay_slot;
  }

  OpProfile& profile_;
  const DeviceId device_;
  const std::vector<ProgramLaunches> per_replay_;
  LaunchSite site_;
  std::atomic<uint64_t> replays_{0};
};

}  // namespace tensord::op_profile

#endif  // TENSORD_ENGINE_PROFILE_PROGRAM_COUNTER_H_
