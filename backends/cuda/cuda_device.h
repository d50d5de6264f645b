#ifndef TENSORD_BACKENDS_CUDA_CUDA_DEVICE_H_
#define TENSORD_BACKENDS_CUDA_CUDA_DEVICE_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "backends/api/backend.h"
#include "backends/api/memory_budget.h"
#include "backends/cuda/completion_thread.h"
#include "backends/cuda/device_fault.h"

namespace tensord::cuda {

// One GPU, through the primary context of the process.
//
// Memory comes from the GPU's own stream-ordered pool, which keeps what is
// freed; the limit counts what storages hold. Allocation is ordered on a stream
// of the device's and waited for, so a storage can be used on any lane at once;
// who frees one has seen all its work end, as Storage says. Host-visible memory
// is pinned host memory, which the GPU addresses in place.
//
// Threading and ownership: as Device says.
// Errors: kResourceExhausted for memory. A sticky error of any call faults the
//   device (DeviceFault): the context of a GPU cannot be had anew in a process.
class CudaDevice final : public Device {
 public:
  // `memory_limit_bytes` of 0: what the GPU has free now, less what the runtime
  // and its libraries take.
  static absl::StatusOr<std::unique_ptr<CudaDevice>> Open(
      DeviceId id, uint64_t memory_limit_bytes);
  ~CudaDevice() override;

  const DeviceInfo& info() const override { return info_; }
  absl::StatusOr<std::unique_ptr<Storage>> Allocate(
      uint64_t size_bytes) override;
  absl::StatusOr<std::unique_ptr<Storage>> AllocateHostVisible(
      uint64_t size_bytes) override;
  absl::StatusOr<std::unique_ptr<Storage>> ImportHostMemory(
      absl::Span<const std::byte> bytes,
      std::shared_ptr<const void> owner) override;
  absl::StatusOr<std::unique_ptr<Lane>> CreateLane() override;
  uint64_t allocated_bytes() const override { return budget_.used_bytes(); }
  absl::Status health() const override { return fault_.status(); }

  // Lets this GPU and another read each other's memory without a detour, where
  // the machine can; copies work without it.
  void EnablePeer(int gpu);

  // The stream that memory is allocated and freed on.
  cudaStream_t memory_stream() const { return memory_stream_; }

 private:
  CudaDevice(DeviceInfo info, cudaStream_t memory_stream);

  // Memory by `allocate`, under the limit.
  absl::StatusOr<std::unique_ptr<Storage>> AllocateBy(
      uint64_t size_bytes, bool is_host_visible,
      absl::FunctionRef<cudaError_t(void** address, size_t size_bytes)>
          allocate);

  const DeviceInfo info_;
  MemoryBudget budget_;
  DeviceFault fault_;
  const cudaStream_t memory_stream_;
  CompletionThread completions_;
};

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_CUDA_DEVICE_H_
