#ifndef TENSORD_BACKENDS_VULKAN_DEVICE_FAULT_H_
#define TENSORD_BACKENDS_VULKAN_DEVICE_FAULT_H_

#include <atomic>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "backends/api/device_id.h"
#include "backends/vulkan/vulkan_api.h"

namespace tensord::vulkan {

// Whether a device is lost, and by what. It is set by whoever sees it first,
// and stays: a lost VkDevice can only be destroyed.
//
// Threading: thread-safe. Ownership: the device's; everything of that device
//   refers to it.
class DeviceFault {
 public:
  explicit DeviceFault(DeviceId device) : device_(device) {}

  // What a call gave, as a status: VK_ERROR_DEVICE_LOST is noted, and once it
  // is that is what every call gives (kUnavailable).
  absl::Status Check(VkResult result, absl::string_view call);

  // The same for an error after which nothing of the device can be trusted,
  // whatever its kind.
  absl::Status Lose(VkResult result, absl::string_view call);

  bool is_lost() const { return is_lost_.load(std::memory_order_acquire); }
  absl::Status status() const;

 private:
  const DeviceId device_;
  std::atomic<bool> is_lost_{false};
  mutable absl::Mutex mu_;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_DEVICE_FAULT_H_
