#ifndef TENSORD_BACKENDS_CUDA_DEVICE_FAULT_H_
#define TENSORD_BACKENDS_CUDA_DEVICE_FAULT_H_

#include <cuda_runtime_api.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "backends/api/device_loss.h"

namespace tensord::cuda {

// The loss of a device as the runtime tells it: by a sticky error.
// Threading and ownership: as DeviceLoss.
class DeviceFault : public DeviceLoss {
 public:
  using DeviceLoss::DeviceLoss;

  // What a call of the runtime gave, as a status: a sticky error is noted, and
  // once there is one it is what every call gives (kUnavailable).
  absl::Status Check(cudaError_t error, absl::string_view call);

  // The same for an error after which nothing of the device can be trusted,
  // whatever its kind.
  absl::Status Lose(cudaError_t error, absl::string_view call);
};

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_DEVICE_FAULT_H_
