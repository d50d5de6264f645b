#ifndef TENSORD_TESTS_SUPPORT_CUDA_DEVICES_H_
#define TENSORD_TESTS_SUPPORT_CUDA_DEVICES_H_

#include <vector>

#include "tests/support/backend_test.h"

namespace tensord {

// The GPUs of this machine, or, in programs that link the emulated CUDA
// runtime, the second of its two.
std::vector<DeviceParam> CudaParams();

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_CUDA_DEVICES_H_
