#include "tests/support/cuda_devices.h"

#include "absl/strings/str_cat.h"
#include "backends/cuda/cuda_backend.h"

namespace tensord {
namespace {

DeviceParam CudaParam(int ordinal) {
  return {absl::StrCat("cuda_", ordinal), ordinal,
          [](const HostServices& services, uint64_t memory_limit_bytes) {
            return cuda::MakeCudaBackend(
                services, {.memory_limit_bytes = memory_limit_bytes});
          }};
}

}  // namespace

std::vector<DeviceParam> CudaParams() {
#ifdef TENSORD_CUDA_EMULATION
  return {CudaParam(1)};
#else
  std::vector<DeviceParam> params;
  const int count = cuda::MakeCudaBackend(HostServices{})->device_count();
  for (int i = 0; i < count; ++i) params.push_back(CudaParam(i));
  return params;
#endif
}

}  // namespace tensord
