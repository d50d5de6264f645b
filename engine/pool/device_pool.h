#ifndef TENSORD_ENGINE_POOL_DEVICE_POOL_H_
#define TENSORD_ENGINE_POOL_DEVICE_POOL_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/api/backend.h"
#include "backends/api/device_id.h"
#include "engine/cache/backend_set.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/exec/execution.h"
#include "engine/pool/device_wish.h"
#include "engine/pool/pool_options.h"
#include "engine/pool/pooled_device.h"

namespace tensord {

// All devices of the process, and which of them gets an execution.
//
// Threading: every method may be called from any thread.
// Ownership: owns its devices; borrows the services. The destructor refuses
//   what is queued and waits for what runs.
class DevicePool {
 public:
  static absl::StatusOr<std::unique_ptr<DevicePool>> Create(
      std::vector<std::unique_ptr<Device>> devices, const PoolOptions& options,
      PoolServices services);

  // The device that runs next: the wanted one; or one of those that are
  // available and whose backend is wanted or, without a wish, in `capable`.
  //
  // Of these, with `estimates` of what the run takes on each, the one where it
  // is expected to end first behind what is open there: its own time, and the
  // time of the open ones shared out among the lanes. A device without an
  // estimate has no kernels for it then. Without any estimates, the one with
  // the least load per lane. Of equals the first, so that little load stays
  // where it is compiled for. Devices that do not compute are chosen only when
  // wanted or when there are no others.
  // Errors: kNotFound for a wanted device or backend that is not there;
  //   kUnavailable with the reason of each device.
  absl::StatusOr<PooledDevice*> Choose(
      BackendSet capable, const DeviceWish& wish,
      absl::Span<const DeviceEstimate> estimates = {}) const;

  // Null when it is not there.
  PooledDevice* Find(DeviceId id) const;
  bool HasBackend(BackendId backend) const;

  absl::Span<const std::unique_ptr<PooledDevice>> devices() const {
    return devices_;
  }

  // Some device computes; without one, those that do not stand for them.
  bool has_computing_device() const { return has_computing_device_; }

  // Refuses what is queued and what comes; Join() waits for what runs.
  void Close();
  void Join();

 private:
  explicit DevicePool(PoolServices services) : services_(std::move(services)) {}

  absl::Status NoneAvailable(BackendSet capable) const;
  absl::StatusOr<PooledDevice*> FindAvailable(DeviceId id) const;

  const PoolServices services_;
  std::vector<std::unique_ptr<PooledDevice>> devices_;
  bool has_computing_device_ = false;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_POOL_DEVICE_POOL_H_
