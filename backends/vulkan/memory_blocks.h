#ifndef TENSORD_BACKENDS_VULKAN_MEMORY_BLOCKS_H_
#define TENSORD_BACKENDS_VULKAN_MEMORY_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "backends/vulkan/device_fault.h"
#include "backends/vulkan/physical_device.h"
#include "backends/vulkan/vulkan_api.h"

namespace tensord::vulkan {

// Where memory is, by who reads and writes it.
enum class MemoryKind : uint8_t {
  kDevice,     // kernels alone: the device's own
  kHost,       // the host reads what the device wrote: cached
  kArguments,  // the host writes what kernels read: near the device if possible
};
inline constexpr int kMemoryKindCount = 3;

// One allocation of the driver, and the buffer that covers it.
struct MemoryBlock;

// A range of a block. Threading and ownership: a plain value.
struct MemoryRange {
  MemoryBlock* block = nullptr;
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t offset = 0;  // in the buffer
  uint64_t size_bytes = 0;
  uint64_t device_address = 0;
  std::byte* host_address = nullptr;  // null for kDevice
};

// Memory of one device, in few large allocations of which ranges are given out:
// drivers allow as few as 4096 allocations, and each takes long. A range that
// is larger than half a block gets one of its own. One empty block of each kind
// is kept.
//
// Threading: thread-safe. The driver is called under the lock, so that two
//   threads that find no room do not allocate two blocks; ranges come and go at
//   compile time and at start, not in a run.
// Ownership: the device's; all ranges are given back before it dies.
// Errors: kResourceExhausted when the driver has no memory.
class MemoryBlocks {
 public:
  // `device` and `fault` outlive it.
  MemoryBlocks(const VulkanApi& api, VkDevice device, const PhysicalDevice& gpu,
               uint64_t limit_bytes, DeviceFault& fault);
  ~MemoryBlocks();

  absl::StatusOr<MemoryRange> Allocate(uint64_t size_bytes, MemoryKind kind);
  void Free(const MemoryRange& range);

  int block_count() const;

 private:
  absl::StatusOr<MemoryBlock*> AddBlock(uint64_t size_bytes, MemoryKind kind)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Fill(MemoryBlock& block) const;
  void Destroy(MemoryBlock& block) const;
  // The type of memory for a kind among those that `allowed` has bits of.
  uint32_t TypeOf(MemoryKind kind, uint32_t allowed) const;

  const VulkanApi& api_;
  const VkDevice device_;
  const PhysicalDevice& gpu_;
  const uint64_t block_bytes_;
  DeviceFault& fault_;
  mutable absl::Mutex mu_;
  std::vector<std::unique_ptr<MemoryBlock>> blocks_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_MEMORY_BLOCKS_H_
