#ifndef TENSORD_ENGINE_PROFILE_SHARD_H_
#define TENSORD_ENGINE_PROFILE_SHARD_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "backends/api/device_id.h"
#include "engine/profile/clock.h"
#include "engine/profile/duration_buckets.h"
#include "engine/profile/op_label.h"
#include "engine/profile/trace_buffer.h"

namespace tensord::op_profile {

class OpProfile;

// A dense number for one (op, backend, kernel, dtype), given by
// OpProfile::SlotFor() when a node is compiled. Slot 0 is nobody's: what is
// charged to it is not reported, so a node that was compiled without a profile
// needs no check at its launch.
inline constexpr uint32_t kNoSlot = 0;
inline constexpr uint32_t kMaxSlotCount = 4096;

// What a compiled node carries for its accounting.
struct LaunchSite {
  uint32_t slot = kNoSlot;
  uint32_t node_index = 0;
  uint64_t bytes = 0;  // read and written by one launch
};

// A counter with one writer at a time: a plain load and store, since an atomic
// addition (a locked instruction on x86) would cost ten times as much.
class Counter {
 public:
  void Add(uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n,
                 std::memory_order_relaxed);
  }
  uint64_t Read() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// Counting alone touches the first cache line only.
struct alignas(64) SlotCounters {
  Counter launches;
  Counter errors;
  Counter bytes;
  Counter host_ticks;
  std::array<Counter, kDurationBucketCount> host_buckets;
};

// The counters of one lane: what its launches write and any scrape adds up.
//
// Threading: everything but reads by OpProfile is for the one thread that holds
//   the lane. The lease of the lane orders one holder after another.
// Ownership: the lane's owner holds it (OpProfile::CreateShard); its destructor
//   folds its counts into the profile's totals. The profile outlives it.
class alignas(64) Shard {
 public:
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  DeviceId device() const { return device_; }

  // Whether the execution that runs now is accounted at all; false between
  // executions.
  bool is_on() const { return is_on_; }
  // Whether its launches are counted (false when it is merely traced).
  bool is_counting() const { return is_counting_; }
  // Whether its durations go into the histograms: device timestamps are worth
  // taking then, and only then.
  bool is_sampled() const { return is_sampled_; }

  // OpProfile::AddDeviceDuration() of this shard's profile.
  void AddDeviceDuration(OpLabel op, BackendId backend, uint64_t duration_ns);

 private:
  friend class ExecutionScope;
  friend class LaunchTimer;
  friend class OpProfile;

  // 12 KB: a graph of some tens of kernels fits one chunk.
  static constexpr uint32_t kSlotsPerChunk = 64;
  static constexpr uint32_t kChunkCount = kMaxSlotCount / kSlotsPerChunk;
  using Chunk = std::array<SlotCounters, kSlotsPerChunk>;

  Shard(OpProfile& profile, DeviceId device, uint64_t seed);

  void Begin(TraceBuffer* trace);
  void End();
  bool PickForSampling(uint32_t sample_every);

  // The profile keeps a chunk here for every slot that it has given out.
  SlotCounters& counters(uint32_t slot) {
    return (*chunks_[slot / kSlotsPerChunk].load(
        std::memory_order_acquire))[slot % kSlotsPerChunk];
  }
  const SlotCounters& counters(uint32_t slot) const {
    return const_cast<Shard*>(this)->counters(slot);
  }
  // With the profile's lock: makes room for every slot below `slot_count`.
  void Reserve(uint32_t slot_count);

  bool is_on_ = false;
  bool is_counting_ = false;
  bool is_sampled_ = false;
  const DeviceId device_;
  const TickClock clock_;
  // Ticks of the launches that ended inside the launch that runs now.
  uint64_t nested_ticks_ = 0;
  uint64_t begin_ticks_ = 0;
  TraceBuffer* trace_ = nullptr;

  std::array<std::atomic<Chunk*>, kChunkCount> chunks_{};

  OpProfile& profile_;
  // One execution of each `window_size_` is sampled, at a random place in it:
  // every N-th would always meet the same half of a client that alternates
  // between two graphs.
  uint32_t window_size_ = 0;
  uint32_t position_ = 0;
  uint32_t picked_position_ = 0;
  uint64_t random_state_;
};

// One execution on a lane, as its accounting sees it: whether it is counted and
// timed is decided here, once, and holds until the scope ends, whatever is
// configured meanwhile.
//
// Threading: one scope at a time on a shard, on the thread that holds the lane.
class ExecutionScope {
 public:
  // `lane_shard` may be null: nothing is counted. With `trace`, every launch
  // also leaves a row there, in any mode.
  explicit ExecutionScope(Shard* lane_shard, TraceBuffer* trace = nullptr)
      : shard_(lane_shard) {
    if (shard_ != nullptr) shard_->Begin(trace);
  }
  ~ExecutionScope() {
    if (shard_ != nullptr) shard_->End();
  }
  ExecutionScope(const ExecutionScope&) = delete;
  ExecutionScope& operator=(const ExecutionScope&) = delete;

  // For LaunchContext::profile; null when there is nothing to account, which is
  // all that a launch then looks at.
  Shard* shard() const {
    return shard_ != nullptr && shard_->is_on() ? shard_ : nullptr;
  }

 private:
  Shard* const shard_;
};

}  // namespace tensord::op_profile

#endif  // TENSORD_ENGINE_PROFILE_SHARD_H_
