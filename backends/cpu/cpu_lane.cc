#include "backends/cpu/cpu_lane.h"

#include <cstring>

#include "backends/api/copy_check.h"

namespace tensord {
namespace {

// memmove may not be called with null, which an empty span may have.
void MoveBytes(std::byte* destination, const std::byte* source, size_t bytes) {
  if (bytes != 0) std::memmove(destination, source, bytes);
}

}  // namespace

absl::Status CpuLane::CopyToDevice(absl::Span<const std::byte> source,
                                   StorageView destination) {
  absl::Status status = CheckHostCopy(device(), source.size(), destination);
  if (status.ok()) {
    MoveBytes(destination.address(), source.data(), source.size());
  }
  return status;
}

absl::Status CpuLane::CopyToHost(StorageView source,
                                 absl::Span<std::byte> destination) {
  absl::Status status = CheckHostCopy(device(), destination.size(), source);
  if (status.ok()) {
    MoveBytes(destination.data(), source.address(), destination.size());
  }
  return status;
}

absl::Status CpuLane::Copy(StorageView source, StorageView destination) {
  absl::Status status = CheckDeviceCopy(device(), source, destination);
  if (status.ok()) {
    MoveBytes(destination.address(), source.address(), source.size_bytes);
  }
  return status;
}

}  // namespace tensord
