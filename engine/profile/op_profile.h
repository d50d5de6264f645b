#ifndef TENSORD_ENGINE_PROFILE_OP_PROFILE_H_
#define TENSORD_ENGINE_PROFILE_OP_PROFILE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "backends/api/device_id.h"
#include "backends/api/dtype.h"
#include "engine/profile/op_label.h"
#include "engine/profile/profile_snapshot.h"
#include "engine/profile/program_counter.h"
#include "engine/profile/shard.h"
#include "engine/profile/slot_table.h"
#include "engine/profile/snapshot_builder.h"
#include "engine/profile/striped_histograms.h"

namespace tensord::op_profile {

// The accounting of kernel launches of a process (or of a test). Launches
// write to their lane's Shard (launch.h); everything else happens here.
//
// Numbers only grow: a snapshot never shows less than an earlier one, whoever
// else reads, and whatever was retired or evicted in between.
//
// Threading: thread-safe. The lock is taken when a node is compiled, a lane or
//   program is made or retired, and by a snapshot; never by a launch.
// Ownership: outlives its shards and programs.
class OpProfile {
 public:
  OpProfile();
  ~OpProfile();
  OpProfile(const OpProfile&) = delete;
  OpProfile& operator=(const OpProfile&) = delete;

  // Off at first. Executions that run already keep the mode with which they
  // began. kInvalidArgument for kSampled with `sample_every` 0.
  absl::Status Configure(const ProfileConfig& config);
  ProfileConfig config() const;

  // The slot of a compiled node; the same one for the same four. `dtype` is the
  // first output's. Bounded: when 3,072 kernels are known, further ones share
  // one slot for each (op, backend), under the kernel name "other".
  uint32_t SlotFor(OpLabel op, BackendId backend, absl::string_view kernel,
                   DType dtype);
  // What a slot stands for; kNoSlot and slots never given out have the kernel
  // name "".
  SlotIdentity Describe(uint32_t slot) const;

  // For one lane of `device`. Never fails; allocates about 12 KB for every 64
  // slots, now and when more slots are given out.
  std::unique_ptr<Shard> CreateShard(DeviceId device);

  // For a recorded program of `device`. `per_replay` has each slot once.
  std::unique_ptr<ProgramCounter> CreateProgram(
      DeviceId device, std::vector<ProgramLaunches> per_replay);

  // The device's own time of one launch of a sampled execution, from its
  // DeviceTimestamps. Lock-free, so a completion thread may call it.
  void AddDeviceDuration(OpLabel op, BackendId backend, uint64_t duration_ns);

  ProfileSnapshot Snapshot() const;

 private:
  friend class Shard;
  friend class ProgramCounter;

  // Indexed by slot.
  using DeviceTotals = std::vector<SlotTotals>;
  using Totals = absl::flat_hash_map<DeviceId, DeviceTotals>;

  void Retire(Shard& shard) ABSL_LOCKS_EXCLUDED(mu_);
  void Retire(ProgramCounter& program) ABSL_LOCKS_EXCLUDED(mu_);

  void Add(const Shard& shard, Totals& totals) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Add(const ProgramCounter& program, Totals& totals) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const TickClock clock_;
  // 0 off, 1 full, else the N of sampled; read by each execution as it begins.
  std::atomic<uint32_t> sample_every_{0};
  StripedDurations device_durations_;

  mutable absl::Mutex mu_;
  ProfileConfig config_ ABSL_GUARDED_BY(mu_);
  uint64_t epoch_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Time epoch_start_ ABSL_GUARDED_BY(mu_);
  SlotTable slots_ ABSL_GUARDED_BY(mu_);
  uint64_t shards_created_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_set<Shard*> shards_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_set<ProgramCounter*> programs_ ABSL_GUARDED_BY(mu_);
  Totals retired_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord::op_profile

#endif  // TENSORD_ENGINE_PROFILE_OP_PROFILE_H_
