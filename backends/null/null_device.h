#ifndef TENSORD_BACKENDS_NULL_NULL_DEVICE_H_
#define TENSORD_BACKENDS_NULL_NULL_DEVICE_H_

#include <cstdint>
#include <memory>

#include "backends/api/backend.h"
#include "backends/api/memory_budget.h"

namespace tensord {

// Zeroed host memory under a limit, and synchronous lanes over it. Large
// allocations are backed by pages only where somebody writes to them.
//
// Threading, ownership and errors: as Device says. It imports no host memory.
class NullDevice final : public Device {
 public:
  NullDevice(DeviceId id, uint64_t memory_limit_bytes);

  const DeviceInfo& info() const override { return info_; }
  absl::StatusOr<std::unique_ptr<Storage>> Allocate(
      uint64_t size_bytes) override;
  absl::StatusOr<std::unique_ptr<Storage>> AllocateHostVisible(
      uint64_t size_bytes) override {
    return Allocate(size_bytes);
  }
  absl::StatusOr<std::unique_ptr<Storage>> ImportHostMemory(
      absl::Span<const std::byte> bytes,
      std::shared_ptr<const void> owner) override;
  absl::StatusOr<std::unique_ptr<Lane>> CreateLane() override;
  uint64_t allocated_bytes() const override { return budget_.used_bytes(); }
  absl::Status health() const override { return absl::OkStatus(); }

 private:
  const DeviceInfo info_;
  MemoryBudget budget_;
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_NULL_NULL_DEVICE_H_
