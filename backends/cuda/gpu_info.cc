#include "backends/cuda/gpu_info.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "backends/cuda/cuda_status.h"

namespace tensord::cuda {
namespace {

// Each takes an arena of the largest graph's size; more add little, since two
// are enough to have copies and kernels at work at once.
constexpr int kLanes = 4;

// The least that is left to the runtime, its libraries and the display.
constexpr uint64_t kLeastReserveBytes = uint64_t{256} << 20;

// "GPU-12345678-1234-1234-1234-123456789abc".
std::string UuidText(const cudaUUID_t& uuid) {
  const std::string hex =
      absl::BytesToHexString(absl::string_view(uuid.bytes, sizeof(uuid.bytes)));
  const absl::string_view digits = hex;
  return absl::StrCat("GPU-", digits.substr(0, 8), "-", digits.substr(8, 4),
                      "-", digits.substr(12, 4), "-", digits.substr(16, 4), "-",
                      digits.substr(20));
}

// "13.0", of 13000.
std::string VersionText(int version) {
  return absl::StrCat(version / 1000, ".", version % 1000 / 10);
}

// 0 where the driver does not say.
double Attribute(cudaDeviceAttr attribute, int gpu) {
  int value = 0;
  const cudaError_t error = cudaDeviceGetAttribute(&value, attribute, gpu);
  return error == cudaSuccess ? value : 0;
}

// Float32 products and sums of all cores: 128 of each processor and clock on
// the architectures of this decade, 64 before.
double FlopsPerNs(const cudaDeviceProp& gpu, int ordinal) {
  const bool has_64 = gpu.major < 8 || (gpu.major == 8 && gpu.minor == 0);
  const double clock_khz = Attribute(cudaDevAttrClockRate, ordinal);
  const double flops = gpu.multiProcessorCount * (has_64 ? 64.0 : 128.0) * 2;
  return std::max(1.0, flops * clock_khz * 1e-6);
}

// Two words of the bus's width a clock.
double BytesPerNs(const cudaDeviceProp& gpu, int ordinal) {
  const double clock_khz = Attribute(cudaDevAttrMemoryClockRate, ordinal);
  return std::max(1.0, 2 * clock_khz * 1e-6 * gpu.memoryBusWidth / 8);
}

}  // namespace

absl::StatusOr<DeviceInfo> ReadGpuInfo(DeviceId id,
                                       uint64_t memory_limit_bytes) {
  cudaDeviceProp gpu;
  absl::Status status = CudaStatus(cudaGetDeviceProperties(&gpu, id.ordinal),
                                   "cudaGetDeviceProperties");
  if (!status.ok()) return status;
  int driver = 0;
  status = CudaStatus(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  if (!status.ok()) return status;
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  status =
      CudaStatus(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  if (!status.ok()) return status;

  DeviceInfo info;
  info.id = id;
  info.description =
      absl::StrCat(gpu.name, ", compute capability ", gpu.major, ".", gpu.minor,
                   ", driver for CUDA ", VersionText(driver));
  info.uuid = absl::StrCat(UuidText(gpu.uuid), "/", VersionText(driver));
  info.is_synchronous = false;
  info.is_host_addressable = false;
  info.has_timestamps = true;
  info.records_programs = true;
  const uint64_t reserve =
      std::max<uint64_t>(kLeastReserveBytes, total_bytes / 50);
  info.memory_limit_bytes =
      memory_limit_bytes != 0
          ? memory_limit_bytes
          : std::max<uint64_t>(free_bytes, reserve + 1) - reserve;
  info.max_lanes = kLanes;
  info.flops_per_ns = FlopsPerNs(gpu, id.ordinal);
  info.bytes_per_ns = BytesPerNs(gpu, id.ordinal);
  // Until somebody measures (engine/place/calibration.h): what a launch takes
  // of the device inside a graph, and the way through pinned memory.
  info.launch_overhead_ns = 1500;
  info.copy_bytes_per_ns = 10;
  info.copy_latency_ns = 10'000;
  return info;
}

}  // namespace tensord::cuda
