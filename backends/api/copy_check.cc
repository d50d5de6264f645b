#include "backends/api/copy_check.h"

#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

absl::Status CheckView(DeviceId device, StorageView view) {
  if (!view.is_present()) {
    return absl::InternalError(
        absl::StrCat("device ", device.ToString(), ": copy of an absent view"));
  }
  const uint64_t storage_bytes = view.storage->size_bytes();
  if (view.offset_bytes > storage_bytes ||
      view.size_bytes > storage_bytes - view.offset_bytes) {
    return absl::InternalError(
        absl::StrCat("device ", device.ToString(), ": copy of ",
                     view.size_bytes, " bytes at offset ", view.offset_bytes,
                     " of a storage of ", storage_bytes, " bytes"));
  }
  if (view.storage->device() != device) {
    return absl::InternalError(absl::StrCat(
        "device ", device.ToString(), ": copy of a view that is on device ",
        view.storage->device().ToString()));
  }
  return absl::OkStatus();
}

absl::Status SizeError(DeviceId device, uint64_t source_bytes,
                       uint64_t destination_bytes) {
  return absl::InternalError(
      absl::StrCat("device ", device.ToString(), ": copy of ", source_bytes,
                   " bytes to ", destination_bytes, " bytes"));
}

}  // namespace

absl::Status CheckHostCopy(DeviceId device, uint64_t host_bytes,
                           StorageView view) {
  if (absl::Status status = CheckView(device, view); !status.ok()) {
    return status;
  }
  if (host_bytes != view.size_bytes) {
    return SizeError(device, host_bytes, view.size_bytes);
  }
  return absl::OkStatus();
}

absl::Status CheckDeviceCopy(DeviceId device, StorageView source,
                             StorageView destination) {
  if (absl::Status status = CheckView(device, source); !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckView(device, destination); !status.ok()) {
    return status;
  }
  if (source.size_bytes != destination.size_bytes) {
    return SizeError(device, source.size_bytes, destination.size_bytes);
  }
  return absl::OkStatus();
}

}  // namespace tensord
