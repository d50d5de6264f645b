#include "backends/cuda/emulation/emulated_device.h"

#include <array>
#include <atomic>

namespace tensord::cuda::emulation {
namespace {

// Never destroyed: streams of static objects may outlive everything else.
struct Machine {
  std::array<EmulatedDevice, kMaxDevices> devices;
  std::atomic<int> device_count{2};
  std::atomic<cudaError_t> reason{cudaErrorInsufficientDriver};

  Machine() {
    for (int i = 0; i < kMaxDevices; ++i) devices[i].ordinal = i;
  }
};

Machine& TheMachine() {
  static auto* const machine = new Machine;
  return *machine;
}

thread_local int current_device = 0;

EmulatedDevice& Device(int ordinal) { return TheMachine().devices[ordinal]; }

}  // namespace

EmulatedDevice* DeviceAt(int ordinal) {
  const bool exists = ordinal >= 0 && ordinal < TheMachine().device_count;
  return exists ? &Device(ordinal) : nullptr;
}

EmulatedDevice& CurrentDevice() { return Device(current_device); }

int DeviceCount(cudaError_t* reason) {
  *reason = TheMachine().reason;
  return TheMachine().device_count;
}

cudaError_t FaultOf(EmulatedDevice& device) {
  absl::MutexLock lock(&device.mu);
  return device.fault;
}

void Reset() {
  SetDeviceCount(2);
  for (EmulatedDevice& device : TheMachine().devices) {
    absl::MutexLock lock(&device.mu);
    const Counts alive = device.counts;
    device.fault = cudaSuccess;
    device.is_paused = false;
    device.faulting_launch = -1;
    device.refused_allocations = 0;
    device.counts = {};
    device.counts.allocations_alive = alive.allocations_alive;
    device.counts.streams_alive = alive.streams_alive;
  }
}

void SetDeviceCount(int count, cudaError_t reason) {
  TheMachine().device_count = count;
  TheMachine().reason = reason;
}

void Fault(int device, cudaError_t error) {
  EmulatedDevice& faulted = Device(device);
  absl::MutexLock lock(&faulted.mu);
  faulted.fault = error;
  faulted.changed.SignalAll();
}

void FaultAtLaunch(int device, int64_t launch_index, cudaError_t error) {
  EmulatedDevice& faulting = Device(device);
  absl::MutexLock lock(&faulting.mu);
  faulting.faulting_launch = faulting.counts.launches + launch_index;
  faulting.coming_fault = error;
}

void RefuseAllocations(int device, int count) {
  absl::MutexLock lock(&Device(device).mu);
  Device(device).refused_allocations = count;
}

void Pause(int device) {
  absl::MutexLock lock(&Device(device).mu);
  Device(device).is_paused = true;
}

void Resume(int device) {
  EmulatedDevice& resumed = Device(device);
  absl::MutexLock lock(&resumed.mu);
  resumed.is_paused = false;
  resumed.changed.SignalAll();
}

Counts CountsOf(int device) {
  absl::MutexLock lock(&Device(device).mu);
  return Device(device).counts;
}

void Execute(EmulatedDevice& device, const Operation& operation) {
  {
    absl::MutexLock lock(&device.mu);
    if (operation.is_launch && device.fault == cudaSuccess) {
      if (device.counts.launches++ == device.faulting_launch) {
        device.fault = device.coming_fault;
        device.changed.SignalAll();
      }
    }
    if (device.fault != cudaSuccess && !operation.runs_after_fault) return;
  }
  operation.work();
}

}  // namespace tensord::cuda::emulation

using tensord::cuda::emulation::CurrentDevice;
using tensord::cuda::emulation::DeviceAt;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  cudaError_t reason;
  *count = tensord::cuda::emulation::DeviceCount(&reason);
  return *count == 0 ? reason : cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (DeviceAt(device) == nullptr) return cudaErrorInvalidDevice;
  tensord::cuda::emulation::current_device = device;
  return FaultOf(CurrentDevice());
}

cudaError_t cudaGetDevice(int* device) {
  *device = CurrentDevice().ordinal;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  cudaError_t reason;
  const bool has_driver = tensord::cuda::emulation::DeviceCount(&reason) > 0 ||
                          reason != cudaErrorInsufficientDriver;
  *version = has_driver ? CUDART_VERSION : 0;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (DeviceAt(device) == nullptr) return cudaErrorInvalidDevice;
  *properties = {};
  std::snprintf(properties->name, sizeof(properties->name), "emulated GPU");
  properties->uuid.bytes[0] = static_cast<char>(device);
  properties->totalGlobalMem = size_t{1} << 30;
  properties->major = 9;
  properties->minor = 0;
  properties->multiProcessorCount = 2;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->memoryBusWidth = 64;
  properties->asyncEngineCount = 1;
  properties->canMapHostMemory = 1;
  properties->unifiedAddressing = 1;
  properties->memoryPoolsSupported = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute,
                                   int device) {
  if (DeviceAt(device) == nullptr) return cudaErrorInvalidDevice;
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      *value = 2;
      break;
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate:
      *value = 1'000'000;  // kHz
      break;
    case cudaDevAttrGlobalMemoryBusWidth:
      *value = 64;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = 227 * 1024;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = 48 * 1024;
      break;
    case cudaDevAttrL2CacheSize:
      *value = 1 << 20;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = 0;
      break;
    default:
      *value = 0;
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (DeviceAt(device) == nullptr || DeviceAt(peer) == nullptr) {
    return cudaErrorInvalidDevice;
  }
  *can = device != peer ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                          const void*, int,
                                                          size_t) {
  *blocks = 1;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   const void*,
                                                                   int, size_t,
                                                                   unsigned) {
  *blocks = 1;
  return cudaSuccess;
}

// Errors are returned where they come up, and none is kept for later.
cudaError_t cudaGetLastError() { return FaultOf(CurrentDevice()); }
cudaError_t cudaPeekAtLastError() { return FaultOf(CurrentDevice()); }

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define TENSORD_ERROR_NAME(name) \
  case name:                     \
    return #name
    TENSORD_ERROR_NAME(cudaSuccess);
    TENSORD_ERROR_NAME(cudaErrorInvalidValue);
    TENSORD_ERROR_NAME(cudaErrorMemoryAllocation);
    TENSORD_ERROR_NAME(cudaErrorInsufficientDriver);
    TENSORD_ERROR_NAME(cudaErrorNoDevice);
    TENSORD_ERROR_NAME(cudaErrorInvalidDevice);
    TENSORD_ERROR_NAME(cudaErrorInvalidResourceHandle);
    TENSORD_ERROR_NAME(cudaErrorNotReady);
    TENSORD_ERROR_NAME(cudaErrorIllegalAddress);
    TENSORD_ERROR_NAME(cudaErrorLaunchFailure);
    TENSORD_ERROR_NAME(cudaErrorECCUncorrectable);
    TENSORD_ERROR_NAME(cudaErrorStreamCaptureUnsupported);
    TENSORD_ERROR_NAME(cudaErrorStreamCaptureUnmatched);
#undef TENSORD_ERROR_NAME
    default:
      return "cudaErrorOfTheEmulation";
  }
}

const char* cudaGetErrorString(cudaError_t error) {
  return cudaGetErrorName(error);
}

}  // extern "C"
