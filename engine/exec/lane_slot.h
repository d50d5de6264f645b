#ifndef TENSORD_ENGINE_EXEC_LANE_SLOT_H_
#define TENSORD_ENGINE_EXEC_LANE_SLOT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/backend.h"
#include "engine/exec/borrowed_storage.h"
#include "engine/exec/lane_programs.h"
#include "engine/profile/op_profile.h"

namespace tensord {

// A lane of a device with what runs on it need: its arena, its extent cells,
// its share of op_profile. Memory only grows, to the largest graph that ran
// here, so that a steady state allocates nothing.
//
// Threading: whoever leases it (DevicePool), one thread at a time.
// Ownership: owns all of it; the device, and the host device, outlive it.
class LaneSlot {
 public:
  // Without `records_programs` its programs() are null, whatever the device
  // can.
  static absl::StatusOr<std::unique_ptr<LaneSlot>> Create(
      Device& device, op_profile::OpProfile* profile, WorkerPool* workers,
      bool records_programs = true);
  ~LaneSlot();

  // Makes room for a graph's temporaries. kResourceExhausted when the device
  // has none; the lane then has no arena until the next call.
  absl::Status Reserve(uint64_t arena_bytes, int32_t extent_cell_count);

  // The same for steps that run on the host, by `host`: a lane of it, and an
  // arena in host memory that the slot's own device copies to and from quickly.
  // A graph of another host device cannot come: there is one for each device.
  absl::Status OpenHost(Device& host);
  absl::Status ReserveHost(uint64_t arena_bytes);

  // After a run: an arena above `max_idle_bytes` goes back to the device, so
  // that one giant graph does not hold its memory for the life of the process.
  // Such a graph pays for its pages in each run; all others never allocate
  // again. The lane is idle.
  void Trim(uint64_t max_idle_bytes = kMaxIdleArenaBytes);

  static constexpr uint64_t kMaxIdleArenaBytes = uint64_t{1} << 30;
  // Whether an arena of a graph stays where it is after its run.
  static bool KeepsArena(uint64_t arena_bytes) {
    return arena_bytes <= kMaxIdleArenaBytes;
  }

  // Makes room for the device's times of a run, in Scratch::time_marks too.
  absl::Status ReserveTimeMarks(int32_t count);

  Device& device() { return device_; }
  Lane& lane() { return *lane_; }
  WorkerPool* workers() { return workers_; }
  op_profile::OpProfile* profile() { return profile_; }
  op_profile::Shard* shard() { return shard_.get(); }
  // Null where nothing is recorded.
  LanePrograms* programs() { return programs_.get(); }
  const Storage* arena() const { return arena_.get(); }
  const Storage* extent_cells() const { return extent_cells_.get(); }

  // Null before OpenHost() and ReserveHost().
  Lane* host_lane() { return host_lane_.get(); }
  op_profile::Shard* host_shard() { return host_shard_.get(); }
  const Storage* host_arena() const { return host_arena_.get(); }

  // Bytes that runs here have copied to and from the device. Any thread.
  uint64_t uploaded_bytes() const { return uploaded_bytes_.Read(); }
  uint64_t downloaded_bytes() const { return downloaded_bytes_.Read(); }
  // By whoever leases it.
  void CountUpload(uint64_t bytes) { uploaded_bytes_.Add(bytes); }
  void CountDownload(uint64_t bytes) { downloaded_bytes_.Add(bytes); }

  // Scratch of the executor, kept so that its capacity is.
  struct Scratch {
    BorrowedStorages borrowed;
    std::vector<absl::Span<const std::byte>> input_bytes;
    // Of the execution, on the device.
    std::vector<StorageView> inputs;
    std::vector<StorageView> outputs;
    // The same in host memory, where that is another one.
    std::vector<StorageView> host_inputs;
    std::vector<StorageView> host_outputs;
    std::vector<StorageView> operands;  // of one launch
    std::vector<int64_t> extents;
    std::vector<int64_t> time_marks;  // nanoseconds since the first
  };
  Scratch& scratch() { return scratch_; }

 private:
  LaneSlot(Device& device, std::unique_ptr<Lane> lane,
           op_profile::OpProfile* profile, WorkerPool* workers,
           bool records_programs);

  Device& device_;
  op_profile::OpProfile* const profile_;  // may be null
  WorkerPool* const workers_;
  const std::unique_ptr<op_profile::Shard> shard_;
  std::unique_ptr<const Storage> arena_;
  std::unique_ptr<const Storage> extent_cells_;
  std::unique_ptr<Lane> host_lane_;
  std::unique_ptr<op_profile::Shard> host_shard_;
  std::unique_ptr<const Storage> host_arena_;
  op_profile::Counter uploaded_bytes_;
  op_profile::Counter downloaded_bytes_;
  Scratch scratch_;
  int32_t time_mark_count_ = 0;  // that the lane has room for
  // Behind what its work uses, so that it goes first and waits for that work;
  // what it has recorded goes before it.
  const std::unique_ptr<Lane> lane_;
  const std::unique_ptr<LanePrograms> programs_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_EXEC_LANE_SLOT_H_
