#include "backends/cuda/kernels/upload.h"

#include <utility>

#include "absl/time/time.h"

namespace tensord::cuda {

absl::StatusOr<std::unique_ptr<Storage>> Upload(
    Device& device, absl::Span<const std::byte> bytes) {
  auto storage = device.Allocate(bytes.size());
  if (!storage.ok()) return storage.status();
  auto lane = device.CreateLane();
  if (!lane.ok()) return lane.status();
  absl::Status status = (*lane)->CopyToDevice(bytes, WholeOf(**storage));
  if (!status.ok()) return status;
  auto completion = (*lane)->RecordCompletion();
  if (!completion.ok()) return completion.status();
  status = completion->WaitUntil(absl::InfiniteFuture());
  if (!status.ok()) return status;
  return std::move(*storage);
}

}  // namespace tensord::cuda
