#include "backends/null/null_device.h"

#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "backends/api/copy_check.h"

namespace tensord {
namespace {

class NullStorage final : public Storage {
 public:
  NullStorage(DeviceId device, void* block, std::byte* address,
              uint64_t size_bytes, MemoryBudget& budget)
      : Storage(device, address, size_bytes, /*is_host_addressable=*/true),
        block_(block),
        budget_(budget) {}
  ~NullStorage() override {
    std::free(block_);
    budget_.Release(size_bytes());
  }

 private:
  void* const block_;  // what calloc gave; address() is aligned inside it
  MemoryBudget& budget_;
};

class NullLane final : public Lane {
 public:
  explicit NullLane(DeviceId device) : Lane(device, /*is_synchronous=*/true) {}

  absl::Status CopyToDevice(absl::Span<const std::byte> source,
                            StorageView destination) override {
    absl::Status status = CheckHostCopy(device(), source.size(), destination);
    if (status.ok() && !source.empty()) {
      std::memcpy(destination.address(), source.data(), source.size());
    }
    return status;
  }

  absl::Status CopyToHost(StorageView source,
                          absl::Span<std::byte> destination) override {
    absl::Status status = CheckHostCopy(device(), destination.size(), source);
    if (status.ok() && !destination.empty()) {
      std::memcpy(destination.data(), source.address(), destination.size());
    }
    return status;
  }

  absl::Status Copy(StorageView source, StorageView destination) override {
    absl::Status status = CheckDeviceCopy(device(), source, destination);
    if (status.ok() && source.size_bytes != 0) {
      std::memmove(destination.address(), source.address(), source.size_bytes);
    }
    return status;
  }

  absl::StatusOr<CompletionHandle> RecordCompletion() override {
    return CompletionHandle::Ready();
  }
  void Retain(std::shared_ptr<const void>) override {}
  absl::Status Drain(absl::Time) override { return absl::OkStatus(); }
};

DeviceInfo MakeInfo(DeviceId id, uint64_t memory_limit_bytes) {
  DeviceInfo info;
  info.id = id;
  info.description = "completes without computing";
  info.uuid = absl::StrCat("null-", id.ordinal);
  info.is_synchronous = true;
  info.is_host_addressable = true;
  info.computes = false;
  info.memory_limit_bytes = memory_limit_bytes;
  info.max_lanes = 64;  // nothing is shared between them
  info.flops_per_ns = 1000;
  info.bytes_per_ns = 10;  // copies are real
  info.launch_overhead_ns = 20;
  return info;
}

}  // namespace

NullDevice::NullDevice(DeviceId id, uint64_t memory_limit_bytes)
    : info_(MakeInfo(id, memory_limit_bytes)),
      budget_(id, memory_limit_bytes) {}

absl::StatusOr<std::unique_ptr<Storage>> NullDevice::Allocate(
    uint64_t size_bytes) {
  if (absl::Status status = budget_.Reserve(size_bytes); !status.ok()) {
    return status;
  }
  // calloc takes large blocks as fresh zero pages, which posix_memalign and
  // memset would touch one by one.
  void* block = size_bytes > UINT64_MAX - kStorageAlignment
                    ? nullptr
                    : std::calloc(size_bytes + kStorageAlignment, 1);
  if (block == nullptr) {
    absl::Status status =
        budget_.RefusedBySystem(size_bytes, "no memory of that size");
    budget_.Release(size_bytes);
    return status;
  }
  const auto first = reinterpret_cast<uintptr_t>(block);
  const uintptr_t padding = -first % kStorageAlignment;
  return std::make_unique<NullStorage>(info_.id, block,
                                       static_cast<std::byte*>(block) + padding,
                                       size_bytes, budget_);
}

absl::StatusOr<std::unique_ptr<Storage>> NullDevice::ImportHostMemory(
    absl::Span<const std::byte>, std::shared_ptr<const void>) {
  return absl::UnimplementedError(
      absl::StrCat("device ", info_.id.ToString(), " imports no host memory"));
}

absl::StatusOr<std::unique_ptr<Lane>> NullDevice::CreateLane() {
  return std::make_unique<NullLane>(info_.id);
}

}  // namespace tensord
