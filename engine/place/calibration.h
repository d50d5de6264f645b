#ifndef TENSORD_ENGINE_PLACE_CALIBRATION_H_
#define TENSORD_ENGINE_PLACE_CALIBRATION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backends/api/backend.h"
#include "backends/api/host_services.h"
#include "engine/compiled/kernel_binding_table.h"

namespace tensord {

struct CalibrationLimits {
  absl::Time deadline;  // for all measurements
  // After the deadline: a lane that is busy for longer hangs.
  absl::Duration hang_timeout;
};

struct Calibration {
  absl::StatusOr<DeviceInfo> info;
  // Of a device that hangs: the lane and all that its work uses; null for any
  // other. Whoever drops it waits until the lane is empty, before the device
  // goes.
  std::shared_ptr<const void> in_use;
};

// A measured rate is at most so many times what the device supposes, or one of
// so many parts of it.
inline constexpr double kMaxRateFactor = 4;

// The device's description with its rates measured: arithmetic by a square
// float32 product, memory by a sum of two tensors, the launch overhead by one
// of a single element, and copies, all through the device's own kernels and a
// lane of its own.
//
// Each is the quickest of several tries, so that another process disturbs
// little, and rounded to a power of the square root of 2: compilation decides
// by estimates, and one start should decide as the next. None is further than
// kMaxRateFactor from what the device supposes: a start on a busy machine must
// not slow every estimate down.
//
// Work grows until it can be told from a launch's overhead, so that a fast
// device gets large operands: at most 3 * 64 MiB of its memory, and what its
// kernel for the product needs beside them: scratch memory, and the second
// operand once more where it is packed. It takes some 20 ms.
// Threading: on the calling thread, and `workers`; the device serves nobody.
// Errors: kUnimplemented without a kernel for the two operators;
//   kDeadlineExceeded when the device is not done by the deadline, and
//   kUnavailable, with `in_use`, when it hangs; its own.
Calibration CalibrateDevice(Device& device, const KernelBindingTable& table,
                            WorkerPool* workers,
                            const CalibrationLimits& limits);

// The nearest power of the square root of 2. `rate` is above 0.
double RoundedRate(double rate);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PLACE_CALIBRATION_H_
