#ifndef TENSORD_BACKENDS_CUDA_EMULATION_CONTROL_H_
#define TENSORD_BACKENDS_CUDA_EMULATION_CONTROL_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tensord::cuda::emulation {

// The test's hand on the emulated GPUs, which belong to the process as real
// ones do. Faults stay until Reset().
//
// Threading: thread-safe, but for Reset() and SetDeviceCount(), which are
// called
//   while no stream is alive.

// As many devices as were set, well and running; two at the start.
void Reset();

// At most kMaxDevices. `reason` is what the runtime says when there is none.
inline constexpr int kMaxDevices = 8;
void SetDeviceCount(int count,
                    cudaError_t reason = cudaErrorInsufficientDriver);

// The device is lost with this error: now, or at a launch, counted from 0 from
// this call on. Nothing is executed on it any more.
void Fault(int device, cudaError_t error);
void FaultAtLaunch(int device, int64_t launch_index, cudaError_t error);

// The next `count` allocations of device memory are refused.
void RefuseAllocations(int device, int count);

// While paused, streams take work and execute none of it.
void Pause(int device);
void Resume(int device);

// What a device did since Reset().
struct Counts {
  int64_t launches = 0;         // kernels that ran, those of graphs included
  int64_t submissions = 0;      // kernels, copies and graphs that were enqueued
  int64_t graph_launches = 0;   // graphs that were enqueued
  int64_t events_recorded = 0;  // on streams
  int64_t allocations = 0;      // of device or pinned host memory
  int64_t allocations_alive = 0;
  int64_t streams_alive = 0;
};
Counts CountsOf(int device);

}  // namespace tensord::cuda::emulation

#endif  // TENSORD_BACKENDS_CUDA_EMULATION_CONTROL_H_
