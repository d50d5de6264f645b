#ifndef TENSORD_BACKENDS_CPU_CPU_LANE_H_
#define TENSORD_BACKENDS_CPU_CPU_LANE_H_

#include <memory>

#include "backends/api/backend.h"

namespace tensord {

// Work on the calling thread, done when the call returns; nothing to wait for
// and nothing to retain.
//
// Threading, ownership and errors: as Lane says.
class CpuLane final : public Lane {
 public:
  explicit CpuLane(DeviceId device) : Lane(device, /*is_synchronous=*/true) {}

  absl::Status CopyToDevice(absl::Span<const std::byte> source,
                            StorageView destination) override;
  absl::Status CopyToHost(StorageView source,
                          absl::Span<std::byte> destination) override;
  // The views may overlap.
  absl::Status Copy(StorageView source, StorageView destination) override;

  absl::StatusOr<CompletionHandle> RecordCompletion() override {
    return CompletionHandle::Ready();
  }
  void Retain(std::shared_ptr<const void>) override {}
  absl::Status Drain(absl::Time) override { return absl::OkStatus(); }
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_CPU_LANE_H_
