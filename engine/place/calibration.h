#ifndef TENSORD_ENGINE_PLACE_CALIBRATION_H_
#define TENSORD_ENGINE_PLACE_CALIBRATION_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backends/api/backend.h"
#include "backends/api/host_services.h"
#include "engine/compiled/kernel_binding_table.h"

namespace tensord {

// The device's description with its rates measured: arithmetic by a square
// float32 product, memory by a sum of two tensors, the launch overhead by one
// of a single element, and copies, all through the device's own kernels and a
// lane of its own.
//
// Each is the quickest of several tries, so that another process disturbs
// little, and rounded to a power of the square root of 2: compilation decides
// by estimates, and one start should decide as the next.
//
// Work grows until it can be told from a launch's overhead, so that a fast
// device gets large operands: at most 3 * 64 MiB of its memory, for some 20 ms.
// Threading: on the calling thread, and `workers`; the device serves nobody.
// Errors: kUnimplemented without a kernel for the two operators;
//   kDeadlineExceeded when the device is not done by `deadline`; its own.
absl::StatusOr<DeviceInfo> CalibrateDevice(Device& device,
                                           const KernelBindingTable& table,
                                           WorkerPool* workers,
                                           absl::Time deadline);

// The nearest power of the square root of 2. `rate` is above 0.
double RoundedRate(double rate);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PLACE_CALIBRATION_H_
