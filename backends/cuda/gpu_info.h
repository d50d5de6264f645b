#ifndef TENSORD_BACKENDS_CUDA_GPU_INFO_H_
#define TENSORD_BACKENDS_CUDA_GPU_INFO_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "backends/api/backend.h"

namespace tensord::cuda {

// What a GPU says about itself, as the engine wants to know it: names, memory,
// rates. The GPU is current on the calling thread. `memory_limit_bytes` of 0
// becomes what is free, less a part that is left to the runtime.
//
// The uuid is the one that nvidia-smi shows, and the driver's version behind
// it: what was measured under one driver is not believed under another.
absl::StatusOr<DeviceInfo> ReadGpuInfo(DeviceId id,
                                       uint64_t memory_limit_bytes);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_GPU_INFO_H_
