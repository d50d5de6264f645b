#ifndef TENSORD_ENGINE_EXEC_LANE_SLOT_H_
#define TENSORD_ENGINE_EXEC_LANE_SLOT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/backend.h"
#include "engine/exec/borrowed_storage.h"
#include "engine/profile/op_profile.h"

namespace tensord {

// A lane of a device with what runs on it need: its arena, its extent cells,
// its share of op_profile. Memory only grows, to the largest graph that ran
// here, so that a steady state allocates nothing.
//
// Threading: whoever leases it (DevicePool), one thread at a time.
// Ownership: owns all of it; the device outlives it.
class LaneSlot {
 public:
  static absl::StatusOr<std::unique_ptr<LaneSlot>> Create(
      Device& device, op_profile::OpProfile* profile, WorkerPool* workers);

  // Makes room for a graph's temporaries. kResourceExhausted when the device
  // has none; the lane then has no arena until the next call.
  absl::Status Reserve(uint64_t arena_bytes, int32_t extent_cell_count);

  // After a run: an arena above `max_idle_bytes` goes back to the device, so
  // that one giant graph does not hold its memory for the life of the process.
  // Such a graph pays for its pages in each run; all others never allocate
  // again. The lane is idle.
  void Trim(uint64_t max_idle_bytes = kMaxIdleArenaBytes);

  static constexpr uint64_t kMaxIdleArenaBytes = uint64_t{1} << 30;

  Device& device() { return device_; }
  Lane& lane() { return *lane_; }
  WorkerPool* workers() { return workers_; }
  op_profile::Shard* shard() { return shard_.get(); }
  const Storage* arena() const { return arena_.get(); }
  const Storage* extent_cells() const { return extent_cells_.get(); }

  // Scratch of the executor, kept so that its capacity is.
  struct Scratch {
    BorrowedStorages borrowed;
    std::vector<absl::Span<const std::byte>> input_bytes;
    std::vector<StorageView> inputs;    // of the execution
    std::vector<StorageView> outputs;   // of the execution
    std::vector<StorageView> operands;  // of one launch
    std::vector<int64_t> extents;
  };
  Scratch& scratch() { return scratch_; }

 private:
  LaneSlot(Device& device, std::unique_ptr<Lane> lane,
           std::unique_ptr<op_profile::Shard> shard, WorkerPool* workers);

  Device& device_;
  WorkerPool* const workers_;
  const std::unique_ptr<op_profile::Shard> shard_;
  std::unique_ptr<const Storage> arena_;
  std::unique_ptr<const Storage> extent_cells_;
  Scratch scratch_;
  // Last, so that it goes first: it waits for work that uses the memory above.
  const std::unique_ptr<Lane> lane_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_EXEC_LANE_SLOT_H_
