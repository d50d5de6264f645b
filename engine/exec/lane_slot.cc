#include "engine/exec/lane_slot.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"

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
                   op_profile::OpProfile* profile, WorkerPool* workers,
                   bool records_programs)
    : device_(device),
      profile_(profile),
      workers_(workers),
      shard_(profile == nullptr ? nullptr
                                : profile->CreateShard(device.info().id)),
      lane_(std::move(lane)),
      programs_(records_programs && device.info().records_programs
                    ? std::make_unique<LanePrograms>()
                    : nullptr) {}

LaneSlot::~LaneSlot() {
  // Programs go before the lane, and may be on it.
  if (programs_ != nullptr && !programs_->empty()) {
    lane_->Drain(absl::InfiniteFuture()).IgnoreError();
  }
}

absl::StatusOr<std::unique_ptr<LaneSlot>> LaneSlot::Create(
    Device& device, op_profile::OpProfile* profile, WorkerPool* workers,
    bool records_programs) {
  absl::StatusOr<std::unique_ptr<Lane>> lane = device.CreateLane();
  if (!lane.ok()) return lane.status();
  return std::unique_ptr<LaneSlot>(new LaneSlot(
      device, *std::move(lane), profile, workers, records_programs));
}

absl::Status LaneSlot::Reserve(uint64_t arena_bytes,
                               int32_t extent_cell_count) {
  // Empty temporaries have places too, so there is always an arena.
  if (arena_ == nullptr || arena_bytes > SizeOf(arena_)) {
    // The old arena goes first: a device that holds one of the two need not
    // hold both. The lane is idle, so that only programs refer to it.
    if (programs_ != nullptr) programs_->Clear();
    arena_.reset();
    if (absl::Status s = Grow(device_.Allocate(arena_bytes), arena_); !s.ok()) {
      return s;
    }
  }
  const uint64_t cell_bytes = extent_cell_count * sizeof(int64_t);
  if (cell_bytes > SizeOf(extent_cells_)) {
    if (programs_ != nullptr) programs_->Clear();
    return Grow(device_.AllocateHostVisible(cell_bytes), extent_cells_);
  }
  return absl::OkStatus();
}

absl::Status LaneSlot::OpenHost(Device& host) {
  if (host_lane_ != nullptr) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<Lane>> lane = host.CreateLane();
  if (!lane.ok()) return lane.status();
  host_lane_ = *std::move(lane);
  if (profile_ != nullptr) host_shard_ = profile_->CreateShard(host.info().id);
  return absl::OkStatus();
}

absl::Status LaneSlot::ReserveHost(uint64_t arena_bytes) {
  if (host_arena_ != nullptr && arena_bytes <= SizeOf(host_arena_)) {
    return absl::OkStatus();
  }
  host_arena_.reset();
  return Grow(device_.AllocateHostVisible(arena_bytes), host_arena_);
}

absl::Status LaneSlot::ReserveTimeMarks(int32_t count) {
  if (count > time_mark_count_) {
    // Programs may point to the marks that there were.
    if (programs_ != nullptr) programs_->ClearMarked();
    const int32_t room = std::max(count, 2 * time_mark_count_);
    time_mark_count_ = 0;
    if (absl::Status s = lane_->ReserveTimeMarks(room); !s.ok()) return s;
    time_mark_count_ = room;
  }
  scratch_.time_marks.resize(count);
  return absl::OkStatus();
}

void LaneSlot::Trim(uint64_t max_idle_bytes) {
  if (SizeOf(arena_) > max_idle_bytes) {
    if (programs_ != nullptr) programs_->Clear();
    arena_.reset();
  }
  if (SizeOf(host_arena_) > max_idle_bytes) host_arena_.reset();
}

}  // namespace tensord
