// Memory of the emulated devices, and pinned memory: both the host's own,
// filled with 0xDD, so that what nobody wrote shows.

#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "backends/cuda/emulation/emulated_device.h"

namespace tensord::cuda::emulation {
namespace {

constexpr size_t kAlignment = 256;
constexpr int kPoison = 0xDD;

struct Block {
  size_t size_bytes = 0;
  cudaMemoryType type = cudaMemoryTypeUnregistered;
  EmulatedDevice* device = nullptr;
};

// What was allocated, by address.
class Blocks {
 public:
  void Add(void* address, const Block& block) {
    absl::MutexLock lock(&mu_);
    blocks_[static_cast<std::byte*>(address)] = block;
  }

  // The block that was there; without a type if there was none.
  Block Remove(void* address) {
    absl::MutexLock lock(&mu_);
    const auto found = blocks_.find(static_cast<std::byte*>(address));
    if (found == blocks_.end()) return {};
    const Block block = found->second;
    blocks_.erase(found);
    return block;
  }

  Block Find(const void* address) {
    absl::MutexLock lock(&mu_);
    const auto* at = static_cast<const std::byte*>(address);
    auto next = blocks_.upper_bound(const_cast<std::byte*>(at));
    if (next == blocks_.begin()) return {};
    --next;
    const bool is_inside = at < next->first + next->second.size_bytes;
    return is_inside ? next->second : Block{};
  }

 private:
  absl::Mutex mu_;
  std::map<std::byte*, Block> blocks_ ABSL_GUARDED_BY(mu_);
};

Blocks& TheBlocks() {
  static auto* const blocks = new Blocks;
  return *blocks;
}

cudaError_t Allocate(void** address, size_t size_bytes, cudaMemoryType type) {
  EmulatedDevice& device = CurrentDevice();
  {
    absl::MutexLock lock(&device.mu);
    if (device.fault != cudaSuccess) return device.fault;
    if (type == cudaMemoryTypeDevice && device.refused_allocations > 0) {
      --device.refused_allocations;
      return cudaErrorMemoryAllocation;
    }
    ++device.counts.allocations;
    ++device.counts.allocations_alive;
  }
  if (posix_memalign(address, kAlignment, size_bytes) != 0) {
    return cudaErrorMemoryAllocation;
  }
  std::memset(*address, kPoison, size_bytes);
  TheBlocks().Add(*address, {size_bytes, type, &device});
  return cudaSuccess;
}

cudaError_t Free(void* address) {
  const Block block = TheBlocks().Remove(address);
  if (block.device == nullptr) return cudaErrorInvalidValue;
  std::memset(address, kPoison, block.size_bytes);
  std::free(address);
  absl::MutexLock lock(&block.device->mu);
  --block.device->counts.allocations_alive;
  return block.device->fault;
}

bool IsPageable(const void* address) {
  return TheBlocks().Find(address).type == cudaMemoryTypeUnregistered;
}

}  // namespace
}  // namespace tensord::cuda::emulation

using namespace tensord::cuda::emulation;  // NOLINT: this file is its inside

extern "C" {

cudaError_t cudaMalloc(void** address, size_t size_bytes) {
  return Allocate(address, size_bytes, cudaMemoryTypeDevice);
}

cudaError_t cudaFree(void* address) {
  return address == nullptr ? cudaSuccess : Free(address);
}

cudaError_t cudaMallocAsync(void** address, size_t size_bytes, cudaStream_t) {
  return Allocate(address, size_bytes, cudaMemoryTypeDevice);
}

cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  return EnqueueOn(
      stream, {.work = [address] { Free(address); }, .runs_after_fault = true});
}

cudaError_t cudaHostAlloc(void** address, size_t size_bytes, unsigned) {
  return Allocate(address, size_bytes, cudaMemoryTypeHost);
}

cudaError_t cudaFreeHost(void* address) {
  return address == nullptr ? cudaSuccess : Free(address);
}

// Pools have no memory of their own here, so there is nothing to set.
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  *pool = nullptr;
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*,
                                 size_t) {
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  *free_bytes = *total_bytes = size_t{1} << 30;
  return FaultOf(CurrentDevice());
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                     const void* address) {
  const Block block = TheBlocks().Find(address);
  *attributes = {};
  attributes->type = block.type;
  attributes->device = block.device == nullptr ? -1 : block.device->ordinal;
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* destination, const void* source,
                            size_t size_bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  if (size_bytes == 0) return FaultOf(stream->device);
  const cudaError_t error =
      EnqueueOn(stream, {.work = [destination, source, size_bytes] {
                  std::memmove(destination, source, size_bytes);
                }});
  // The runtime does not return before it is done with pageable memory.
  if (error == cudaSuccess && (IsPageable(destination) || IsPageable(source))) {
    return Synchronize(stream);
  }
  return error;
}

cudaError_t cudaMemcpyPeerAsync(void* destination, int, const void* source, int,
                                size_t size_bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(destination, source, size_bytes,
                         cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemsetAsync(void* destination, int value, size_t size_bytes,
                            cudaStream_t stream) {
  return EnqueueOn(stream, {.work = [destination, value, size_bytes] {
                     std::memset(destination, value, size_bytes);
                   }});
}

}  // extern "C"
