#include "engine/exec/lane_slot.h"

#include <utility>

namespace tensord {
namespace {

absl::Status Grow(absl::StatusOr<std::unique_ptr<Storage>> allocated,
                  std::unique_ptr<const Storage>& storage) {
  if (!allocated.ok()) return allocated.status();
  storage = *std::move(allocated);
  return absl::OkStatus();
}

uint64_t SizeOf(const std::unique_ptr<const Storage>& storage) {
  return storage == nullptr ? 0 : storage->size_bytes();
}

}  // namespace

LaneSlot::LaneSlot(Device& device, std::unique_ptr<Lane> lane,
                   std::unique_ptr<op_profile::Shard> shard,
                   WorkerPool* workers)
    : device_(device),
      workers_(workers),
      shard_(std::move(shard)),
      lane_(std::move(lane)) {}

absl::StatusOr<std::unique_ptr<LaneSlot>> LaneSlot::Create(
    Device& device, op_profile::OpProfile* profile, WorkerPool* workers) {
  absl::StatusOr<std::unique_ptr<Lane>> lane = device.CreateLane();
  if (!lane.ok()) return lane.status();
  std::unique_ptr<op_profile::Shard> shard;
  if (profile != nullptr) shard = profile->CreateShard(device.info().id);
  return std::unique_ptr<LaneSlot>(
      new LaneSlot(device, *std::move(lane), std::move(shard), workers));
}

absl::Status LaneSlot::Reserve(uint64_t arena_bytes,
                               int32_t extent_cell_count) {
  // Empty temporaries have places too, so there is always an arena.
  if (arena_ == nullptr || arena_bytes > SizeOf(arena_)) {
    // The old arena goes first: a device that holds one of the two need not
    // hold both. The lane is idle, so nothing refers to it.
    arena_.reset();
    if (absl::Status s = Grow(device_.Allocate(arena_bytes), arena_); !s.ok()) {
      return s;
    }
  }
  const uint64_t cell_bytes = extent_cell_count * sizeof(int64_t);
  if (cell_bytes > SizeOf(extent_cells_)) {
    return Grow(device_.AllocateHostVisible(cell_bytes), extent_cells_);
  }
  return absl::OkStatus();
}

void LaneSlot::Trim(uint64_t max_idle_bytes) {
  if (SizeOf(arena_) > max_idle_bytes) arena_.reset();
}

}  // namespace tensord
