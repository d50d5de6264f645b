#include "backends/cuda/cuda_device.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cuda/cuda_lane.h"
#include "backends/cuda/cuda_status.h"
#include "backends/cuda/current_device.h"
#include "backends/cuda/gpu_info.h"

namespace tensord::cuda {
namespace {

class CudaStorage final : public Storage {
 public:
  CudaStorage(const CudaDevice& device, std::byte* address, uint64_t size_bytes,
              bool is_host_visible, MemoryBudget& budget)
      : Storage(device.info().id, address, size_bytes, is_host_visible),
        memory_stream_(device.memory_stream()),
        budget_(budget) {}

  // What a lost device answers does not matter: its memory went with it.
  ~CudaStorage() override {
    static_cast<void>(MakeCurrent(device().ordinal));
    if (is_host_addressable()) {
      cudaFreeHost(address());
    } else {
      cudaFreeAsync(address(), memory_stream_);
    }
    budget_.Release(size_bytes());
  }

 private:
  const cudaStream_t memory_stream_;
  MemoryBudget& budget_;
};

// The pool keeps what is freed: giving it back to the driver costs more than
// all kernels of a small graph.
absl::Status KeepFreedMemory(int gpu) {
  cudaMemPool_t pool = nullptr;
  absl::Status status = CudaStatus(cudaDeviceGetDefaultMemPool(&pool, gpu),
                                   "cudaDeviceGetDefaultMemPool");
  uint64_t threshold = UINT64_MAX;
  if (status.ok()) {
    status = CudaStatus(cudaMemPoolSetAttribute(
                            pool, cudaMemPoolAttrReleaseThreshold, &threshold),
                        "cudaMemPoolSetAttribute");
  }
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaDevice>> CudaDevice::Open(
    DeviceId id, uint64_t memory_limit_bytes) {
  const int gpu = id.ordinal;
  absl::Status status = CudaStatus(MakeCurrent(gpu), "cudaSetDevice");
  if (status.ok()) status = KeepFreedMemory(gpu);
  if (!status.ok()) return status;
  absl::StatusOr<DeviceInfo> info = ReadGpuInfo(id, memory_limit_bytes);
  if (!info.ok()) return info.status();
  cudaStream_t stream = nullptr;
  status = CudaStatus(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                      "cudaStreamCreateWithFlags");
  if (!status.ok()) return status;
  return std::unique_ptr<CudaDevice>(new CudaDevice(*std::move(info), stream));
}

CudaDevice::CudaDevice(DeviceInfo info, cudaStream_t memory_stream)
    : info_(std::move(info)),
      budget_(info_.id, info_.memory_limit_bytes),
      fault_(info_.id),
      memory_stream_(memory_stream),
      completions_(info_.id.ordinal, fault_) {}

CudaDevice::~CudaDevice() {
  static_cast<void>(MakeCurrent(info_.id.ordinal));
  cudaStreamSynchronize(memory_stream_);
  cudaStreamDestroy(memory_stream_);
}

absl::StatusOr<std::unique_ptr<Storage>> CudaDevice::AllocateBy(
    uint64_t size_bytes, bool is_host_visible,
    absl::FunctionRef<cudaError_t(void**, size_t)> allocate) {
  if (fault_.is_lost()) return fault_.status();
  if (absl::Status s = budget_.Reserve(size_bytes); !s.ok()) return s;
  void* address = nullptr;
  cudaError_t error = MakeCurrent(info_.id.ordinal);
  // The runtime gives no address for 0 bytes.
  if (error == cudaSuccess) {
    error = allocate(&address, std::max<uint64_t>(size_bytes, 1));
  }
  if (error != cudaSuccess) {
    absl::Status status = fault_.Check(error, "allocation");
    if (absl::IsResourceExhausted(status)) {
      status = budget_.RefusedBySystem(size_bytes, cudaGetErrorName(error));
    }
    budget_.Release(size_bytes);
    return status;
  }
  return std::make_unique<CudaStorage>(*this, static_cast<std::byte*>(address),
                                       size_bytes, is_host_visible, budget_);
}

absl::StatusOr<std::unique_ptr<Storage>> CudaDevice::Allocate(
    uint64_t size_bytes) {
  return AllocateBy(size_bytes, /*is_host_visible=*/false,
                    [this](void** address, uint64_t bytes) {
                      const cudaError_t error =
                          cudaMallocAsync(address, bytes, memory_stream_);
                      if (error != cudaSuccess) return error;
                      return cudaStreamSynchronize(memory_stream_);
                    });
}

absl::StatusOr<std::unique_ptr<Storage>> CudaDevice::AllocateHostVisible(
    uint64_t size_bytes) {
  return AllocateBy(
      size_bytes, /*is_host_visible=*/true, [](void** address, uint64_t bytes) {
        return cudaHostAlloc(address, bytes,
                             cudaHostAllocPortable | cudaHostAllocMapped);
      });
}

absl::StatusOr<std::unique_ptr<Storage>> CudaDevice::ImportHostMemory(
    absl::Span<const std::byte>, std::shared_ptr<const void>) {
  return absl::UnimplementedError(
      absl::StrCat("device ", info_.id.ToString(), " imports no host memory"));
}

absl::StatusOr<std::unique_ptr<Lane>> CudaDevice::CreateLane() {
  if (fault_.is_lost()) return fault_.status();
  absl::Status status =
      fault_.Check(MakeCurrent(info_.id.ordinal), "cudaSetDevice");
  cudaStream_t stream = nullptr;
  if (status.ok()) {
    status =
        fault_.Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                     "cudaStreamCreateWithFlags");
  }
  if (!status.ok()) return status;
  return std::make_unique<CudaLane>(info_.id, stream, completions_, fault_);
}

void CudaDevice::EnablePeer(int gpu) {
  int can_access = 0;
  cudaMemPool_t pool = nullptr;
  if (cudaDeviceCanAccessPeer(&can_access, gpu, info_.id.ordinal) !=
          cudaSuccess ||
      can_access == 0 ||
      cudaDeviceGetDefaultMemPool(&pool, info_.id.ordinal) != cudaSuccess) {
    return;
  }
  cudaMemAccessDesc access = {};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = gpu;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  static_cast<void>(cudaMemPoolSetAccess(pool, &access, 1));
}

}  // namespace tensord::cuda
