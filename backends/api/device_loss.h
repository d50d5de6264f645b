#ifndef TENSORD_BACKENDS_API_DEVICE_LOSS_H_
#define TENSORD_BACKENDS_API_DEVICE_LOSS_H_

#include <atomic>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "backends/api/device_id.h"

namespace tensord {

// Whether a device is lost, and by what. It is set by whoever sees first that
// nothing of the device can be trusted, and stays.
//
// Threading: thread-safe. Ownership: the device's; everything of that device
//   refers to it.
class DeviceLoss {
 public:
  explicit DeviceLoss(DeviceId device) : device_(device) {}

  // Notes the loss, unless there was one; the device's status from now on
  // (kUnavailable) either way. `what` names the call and the driver's error.
  absl::Status Note(absl::string_view what);

  bool is_lost() const { return is_lost_.load(std::memory_order_acquire); }
  // OK, or what Note gave first.
  absl::Status status() const;

 private:
  const DeviceId device_;
  std::atomic<bool> is_lost_{false};
  mutable absl::Mutex mu_;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_DEVICE_LOSS_H_
