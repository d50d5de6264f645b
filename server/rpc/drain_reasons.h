#ifndef TENSORD_SERVER_RPC_DRAIN_REASONS_H_
#define TENSORD_SERVER_RPC_DRAIN_REASONS_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "backends/api/device_id.h"

namespace tensord {

// Why an operator has taken a device out of use, in the operator's words.
// Threading: thread-safe.
class DrainReasons {
 public:
  void Set(DeviceId device, absl::string_view reason) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    reasons_[device] = std::string(reason);
  }
  void Remove(DeviceId device) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    reasons_.erase(device);
  }
  std::string ReasonOf(DeviceId device) const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    const auto found = reasons_.find(device);
    return found == reasons_.end() || found->second.empty() ? "drained"
                                                            : found->second;
  }

 private:
  mutable absl::Mutex mu_;
  absl::flat_hash_map<DeviceId, std::string> reasons_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_DRAIN_REASONS_H_
