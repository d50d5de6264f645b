#include "backends/vulkan/vulkan_device.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "backends/vulkan/vulkan_lane.h"
#include "backends/vulkan/vulkan_status.h"

namespace tensord::vulkan {
namespace {

std::byte* AddressOf(const MemoryRange& range) {
  if (range.host_address != nullptr) return range.host_address;
  return reinterpret_cast<std::byte*>(range.device_address);
}

class VulkanStorage final : public Storage {
 public:
  VulkanStorage(DeviceId device, const MemoryRange& range, MemoryBlocks& blocks,
                MemoryBudget& budget)
      : Storage(device, AddressOf(range), range.size_bytes,
                range.host_address != nullptr),
        range_(range),
        blocks_(blocks),
        budget_(budget) {}

  ~VulkanStorage() override {
    blocks_.Free(range_);
    budget_.Release(size_bytes());
  }

  const MemoryRange& range() const { return range_; }

 private:
  const MemoryRange range_;
  MemoryBlocks& blocks_;
  MemoryBudget& budget_;
};

}  // namespace

const MemoryRange& RangeOf(const Storage& storage) {
  return static_cast<const VulkanStorage&>(storage).range();
}

uint64_t DeviceAddress(const StorageView& view) {
  if (!view.is_present()) return 0;
  return RangeOf(*view.storage).device_address + view.offset_bytes;
}

absl::StatusOr<std::unique_ptr<LogicalDevice>> LogicalDevice::Create(
    std::shared_ptr<const VulkanInstance> instance, const PhysicalDevice& gpu) {
  std::unique_ptr<LogicalDevice> made =
      absl::WrapUnique(new LogicalDevice(std::move(instance)));
  const float priority = 1;
  const VkDeviceQueueCreateInfo queue = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
      .queueFamilyIndex = gpu.queue_family,
      .queueCount = 1,
      .pQueuePriorities = &priority};
  const RequiredFeatures features;
  const VkDeviceCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
      .pNext = &features.features,
      .queueCreateInfoCount = 1,
      .pQueueCreateInfos = &queue};
  const VulkanApi& of_instance = made->instance_->api();
  absl::Status status = VulkanStatus(
      of_instance.CreateDevice(gpu.handle, &info, nullptr, &made->handle_),
      "vkCreateDevice");
  if (!status.ok()) {
    made->handle_ = nullptr;
    return status;
  }
  absl::StatusOr<VulkanApi> api = LoadDevice(of_instance, made->handle_);
  if (!api.ok()) return api.status();
  made->api_ = *api;
  return made;
}

LogicalDevice::~LogicalDevice() {
  if (handle_ != nullptr && api_.DestroyDevice != nullptr) {
    api_.DestroyDevice(handle_, nullptr);
  }
}

absl::StatusOr<std::unique_ptr<VulkanDevice>> VulkanDevice::Open(
    std::shared_ptr<const VulkanInstance> instance, const PhysicalDevice& gpu,
    DeviceId id, uint64_t memory_limit_bytes, CommandJournal* journal) {
  absl::StatusOr<std::unique_ptr<LogicalDevice>> logical =
      LogicalDevice::Create(std::move(instance), gpu);
  if (!logical.ok()) return logical.status();
  std::unique_ptr<VulkanDevice> device = absl::WrapUnique(new VulkanDevice(
      *std::move(logical), gpu, InfoOf(gpu, id, memory_limit_bytes), journal));
  auto pipelines =
      Pipelines::Create(device->api(), device->handle(), device->fault_);
  if (!pipelines.ok()) return pipelines.status();
  device->pipelines_ = *std::move(pipelines);
  auto queue = DeviceQueue::Create(device->api(), device->handle(),
                                   gpu.queue_family, device->fault_);
  if (!queue.ok()) return queue.status();
  device->queue_ = *std::move(queue);
  return device;
}

VulkanDevice::VulkanDevice(std::unique_ptr<LogicalDevice> logical,
                           const PhysicalDevice& gpu, DeviceInfo info,
                           CommandJournal* journal)
    : logical_(std::move(logical)),
      gpu_(gpu),
      info_(std::move(info)),
      journal_(journal),
      budget_(info_.id, info_.memory_limit_bytes),
      fault_(info_.id),
      blocks_(std::make_unique<MemoryBlocks>(
          api(), handle(), gpu_, info_.memory_limit_bytes, fault_)) {}

absl::StatusOr<std::unique_ptr<Storage>> VulkanDevice::AllocateAs(
    uint64_t size_bytes, MemoryKind kind) {
  if (fault_.is_lost()) return fault_.status();
  if (absl::Status s = budget_.Reserve(size_bytes); !s.ok()) return s;
  absl::StatusOr<MemoryRange> range = blocks_->Allocate(size_bytes, kind);
  if (!range.ok()) {
    budget_.Release(size_bytes);
    if (!absl::IsResourceExhausted(range.status())) return range.status();
    return budget_.RefusedBySystem(
        size_bytes, std::string(range.status().message()).c_str());
  }
  return std::make_unique<VulkanStorage>(info_.id, *range, *blocks_, budget_);
}

absl::StatusOr<std::unique_ptr<Storage>> VulkanDevice::Allocate(
    uint64_t size_bytes) {
  return AllocateAs(size_bytes, MemoryKind::kDevice);
}

absl::StatusOr<std::unique_ptr<Storage>> VulkanDevice::AllocateHostVisible(
    uint64_t size_bytes) {
  return AllocateAs(size_bytes, MemoryKind::kHost);
}

absl::StatusOr<std::unique_ptr<Storage>> VulkanDevice::ImportHostMemory(
    absl::Span<const std::byte>, std::shared_ptr<const void>) {
  return absl::UnimplementedError(
      absl::StrCat("device ", info_.id.ToString(), " imports no host memory"));
}

absl::StatusOr<std::unique_ptr<Lane>> VulkanDevice::CreateLane() {
  if (fault_.is_lost()) return fault_.status();
  return VulkanLane::Create(*this);
}

}  // namespace tensord::vulkan
