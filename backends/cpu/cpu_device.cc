#include "backends/cpu/cpu_device.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cpu/cpu_lane.h"
#include "backends/cpu/host_memory.h"

namespace tensord {
namespace {

class CpuStorage final : public Storage {
 public:
  CpuStorage(DeviceId device, std::byte* address, uint64_t size_bytes,
             MemoryBudget& budget, HostMemoryBudget::Lease lease)
      : Storage(device, address, size_bytes, /*is_host_addressable=*/true),
        lease_(std::move(lease)),
        budget_(budget) {}
  ~CpuStorage() override {
    FreeHostMemory(address());
    budget_.Release(size_bytes());
  }

 private:
  const HostMemoryBudget::Lease lease_;
  MemoryBudget& budget_;
};

class ImportedStorage final : public Storage {
 public:
  // Kernels only read inputs, so nobody writes through the cast pointer.
  ImportedStorage(DeviceId device, absl::Span<const std::byte> bytes,
                  std::shared_ptr<const void> owner)
      : Storage(device, const_cast<std::byte*>(bytes.data()), bytes.size(),
                /*is_host_addressable=*/true),
        owner_(std::move(owner)) {}

 private:
  const std::shared_ptr<const void> owner_;
};

DeviceInfo MakeInfo(DeviceId id, const CpuIdentity& identity, int thread_count,
                    uint64_t memory_limit_bytes) {
  DeviceInfo info;
  info.id = id;
  info.description = identity.description;
  info.uuid = identity.uuid;
  info.is_synchronous = true;
  info.is_host_addressable = true;
  info.imports_host_memory = true;
  info.memory_limit_bytes = memory_limit_bytes;
  // All lanes share the worker threads. The second one is there so that a short
  // execution need not wait for a long one even where there is one CPU.
  info.max_lanes = std::max(2, thread_count);
  // What is supposed until somebody measures (engine/place/calibration.h):
  // single precision products of a core with AVX2 or AVX-512 (100 to 256
  // operations a nanosecond), and sums of tensors that are in its caches; four
  // threads fill a usual memory bus.
  info.flops_per_ns = 128.0 * thread_count;
  info.bytes_per_ns = 64.0 * std::min(thread_count, 4);
  info.launch_overhead_ns = 100;
  return info;
}

}  // namespace

CpuDevice::CpuDevice(DeviceId id, const CpuIdentity& identity, int thread_count,
                     uint64_t memory_limit_bytes, HostMemoryBudget* host_memory)
    : info_(MakeInfo(id, identity, thread_count, memory_limit_bytes)),
      budget_(id, memory_limit_bytes),
      host_memory_(host_memory) {}

absl::StatusOr<std::unique_ptr<Storage>> CpuDevice::Allocate(
    uint64_t size_bytes) {
  if (absl::Status status = budget_.Reserve(size_bytes); !status.ok()) {
    return status;
  }
  HostMemoryBudget::Lease lease;
  if (host_memory_ != nullptr) {
    auto taken = host_memory_->Take(
        size_bytes, absl::StrCat("device ", info_.id.ToString()));
    if (!taken.ok()) {
      budget_.Release(size_bytes);
      return taken.status();
    }
    lease = *std::move(taken);
  }
  std::byte* address = AllocateHostMemory(size_bytes);
  if (address == nullptr) {
    absl::Status status =
        budget_.RefusedBySystem(size_bytes, "no memory of that size");
    budget_.Release(size_bytes);
    return status;
  }
  return std::make_unique<CpuStorage>(info_.id, address, size_bytes, budget_,
                                      std::move(lease));
}

absl::StatusOr<std::unique_ptr<Storage>> CpuDevice::ImportHostMemory(
    absl::Span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  const auto address = reinterpret_cast<uintptr_t>(bytes.data());
  if (address % kStorageAlignment != 0) {
    return absl::InternalError(
        absl::StrCat("device ", info_.id.ToString(), ": import of memory at ",
                     address % kStorageAlignment, " past a multiple of ",
                     kStorageAlignment, " bytes"));
  }
  return std::make_unique<ImportedStorage>(info_.id, bytes, std::move(owner));
}

absl::StatusOr<std::unique_ptr<Lane>> CpuDevice::CreateLane() {
  return std::make_unique<CpuLane>(info_.id);
}

}  // namespace tensord
