#ifndef TENSORD_ENGINE_PROFILE_SNAPSHOT_BUILDER_H_
#define TENSORD_ENGINE_PROFILE_SNAPSHOT_BUILDER_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "backends/api/device_id.h"
#include "engine/profile/clock.h"
#include "engine/profile/profile_snapshot.h"
#include "engine/profile/slot_table.h"

namespace tensord::op_profile {

// The sums of one slot on one device.
struct SlotTotals {
  uint64_t launches = 0;
  uint64_t errors = 0;
  uint64_t bytes = 0;
  uint64_t host_ticks = 0;
  std::array<uint64_t, kDurationBucketCount> host_buckets{};
};

// Groups sums per slot and device into the rows of a snapshot.
//
// Threading: confined to one thread. Ownership: a value.
class SnapshotBuilder {
 public:
  void Add(DeviceId device, const SlotIdentity& id, const SlotTotals& totals);
  void AddDeviceDurations(OpLabel op, BackendId backend,
                          const DurationHistogram& durations);

  // Moves the rows into `snapshot`, ordered by identity.
  void Finish(const TickClock& clock, ProfileSnapshot& snapshot) &&;

 private:
  DurationRow& Durations(OpLabel op, BackendId backend);

  std::map<std::tuple<OpLabel, BackendId, uint16_t>, OpRow> ops_;
  std::map<std::tuple<OpLabel, BackendId, std::string, DType>, KernelRow>
      kernels_;
  // Until Finish(), the host's sums are ticks: a sum of rounded nanoseconds
  // would be off by half of one for each launch.
  std::map<std::tuple<OpLabel, BackendId>, DurationRow> durations_;
};

}  // namespace tensord::op_profile

#endif  // TENSORD_ENGINE_PROFILE_SNAPSHOT_BUILDER_H_
