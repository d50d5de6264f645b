#ifndef TENSORD_BACKENDS_VULKAN_VULKAN_DEVICE_H_
#define TENSORD_BACKENDS_VULKAN_VULKAN_DEVICE_H_

#include <cstdint>
#include <memory>

#include "backends/api/backend.h"
#include "backends/api/memory_budget.h"
#include "backends/vulkan/command_journal.h"
#include "backends/vulkan/device_fault.h"
#include "backends/vulkan/device_queue.h"
#include "backends/vulkan/memory_blocks.h"
#include "backends/vulkan/physical_device.h"
#include "backends/vulkan/pipelines.h"
#include "backends/vulkan/vulkan_instance.h"

namespace tensord::vulkan {

// A VkDevice that goes when it goes. Threading: immutable.
class LogicalDevice {
 public:
  static absl::StatusOr<std::unique_ptr<LogicalDevice>> Create(
      std::shared_ptr<const VulkanInstance> instance,
      const PhysicalDevice& gpu);
  ~LogicalDevice();

  const VulkanApi& api() const { return api_; }
  VkDevice handle() const { return handle_; }

 private:
  explicit LogicalDevice(std::shared_ptr<const VulkanInstance> instance)
      : instance_(std::move(instance)) {}

  const std::shared_ptr<const VulkanInstance> instance_;
  VulkanApi api_;
  VkDevice handle_ = nullptr;
};

// One GPU, or a software driver.
//
// Memory comes from MemoryBlocks; the limit counts what storages hold. Kernels
// know a storage by its device address, which the host cannot use: so
// Storage::address() of host-visible memory is where the host sees it, and
// DeviceAddress() is for kernels in any case.
//
// Threading and ownership: as Device says. Errors: kResourceExhausted for
//   memory; VK_ERROR_DEVICE_LOST of any call faults the device (DeviceFault).
class VulkanDevice final : public Device {
 public:
  // `memory_limit_bytes` of 0: nearly all that is free now. `journal` may be
  // null.
  static absl::StatusOr<std::unique_ptr<VulkanDevice>> Open(
      std::shared_ptr<const VulkanInstance> instance, const PhysicalDevice& gpu,
      DeviceId id, uint64_t memory_limit_bytes, CommandJournal* journal);

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

  // What lanes are made of.
  const VulkanApi& api() const { return logical_->api(); }
  VkDevice handle() const { return logical_->handle(); }
  const PhysicalDevice& gpu() const { return gpu_; }
  DeviceFault& fault() { return fault_; }
  MemoryBlocks& blocks() { return *blocks_; }
  Pipelines& pipelines() { return *pipelines_; }
  DeviceQueue& queue() { return *queue_; }
  CommandJournal* journal() const { return journal_; }

 private:
  VulkanDevice(std::unique_ptr<LogicalDevice> logical,
               const PhysicalDevice& gpu, DeviceInfo info,
               CommandJournal* journal);
  absl::StatusOr<std::unique_ptr<Storage>> AllocateAs(uint64_t size_bytes,
                                                      MemoryKind kind);

  // In the order in which they need each other.
  const std::unique_ptr<LogicalDevice> logical_;
  const PhysicalDevice gpu_;
  const DeviceInfo info_;
  CommandJournal* const journal_;
  MemoryBudget budget_;
  DeviceFault fault_;
  std::unique_ptr<MemoryBlocks> blocks_;
  std::unique_ptr<Pipelines> pipelines_;
  std::unique_ptr<DeviceQueue> queue_;
};

// The range that a storage of this backend is.
const MemoryRange& RangeOf(const Storage& storage);

// The address of a view's first byte for kernels; 0 for an absent one.
uint64_t DeviceAddress(const StorageView& view);

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_VULKAN_DEVICE_H_
