#ifndef TENSORD_BACKENDS_CPU_CPU_DEVICE_H_
#define TENSORD_BACKENDS_CPU_CPU_DEVICE_H_

#include <cstdint>
#include <memory>

#include "backends/api/backend.h"
#include "backends/api/host_memory_budget.h"
#include "backends/api/memory_budget.h"
#include "backends/api/packed_weights.h"
#include "backends/cpu/cpu_identity.h"
#include "backends/cpu/packed_store.h"

namespace tensord {

// Host memory under a limit, and synchronous lanes over it.
//
// Threading, ownership and errors: as Device says. Imported bytes are not the
//   device's, so neither its limit nor allocated_bytes() counts them.
class CpuDevice final : public Device, public HasPackedWeights {
 public:
  CpuDevice(DeviceId id, const CpuIdentity& identity, int thread_count,
            uint64_t memory_limit_bytes, HostMemoryBudget* host_memory);

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
  uint64_t packed_bytes() const override { return packed_.packed_bytes(); }
  ContentDigests& digests() override { return packed_.digests(); }

  // What its kernels have made of constants.
  PackedStore& packed_store() { return packed_; }

 private:
  const DeviceInfo info_;
  MemoryBudget budget_;
  HostMemoryBudget* const host_memory_;  // may be null
  PackedStore packed_{*this};
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_CPU_DEVICE_H_
