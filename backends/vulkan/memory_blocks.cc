#include "backends/vulkan/memory_blocks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tensord::vulkan {

struct MemoryBlock {
  MemoryKind kind = MemoryKind::kDevice;
  uint64_t size_bytes = 0;
  bool is_dedicated = false;
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint64_t device_address = 0;
  std::byte* host_address = nullptr;
  std::map<uint64_t, uint64_t> free;  // sizes by offset; neighbours are merged

  bool is_empty() const {
    return free.size() == 1 && free.begin()->second == size_bytes;
  }
};

namespace {

// The most that copies and vector loads of any device ask for.
constexpr uint64_t kAlignment = 256;
constexpr uint64_t kLargestBlockBytes = uint64_t{64} << 20;
constexpr uint64_t kSmallestBlockBytes = uint64_t{256} << 10;

uint64_t RoundUp(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// The first free range that is large enough.
bool Take(MemoryBlock& block, uint64_t size_bytes, uint64_t& offset) {
  for (auto it = block.free.begin(); it != block.free.end(); ++it) {
    if (it->second < size_bytes) continue;
    offset = it->first;
    const uint64_t rest = it->second - size_bytes;
    block.free.erase(it);
    if (rest > 0) block.free.emplace(offset + size_bytes, rest);
    return true;
  }
  return false;
}

void GiveBack(MemoryBlock& block, uint64_t offset, uint64_t size_bytes) {
  auto next = block.free.lower_bound(offset);
  if (next != block.free.end() && next->first == offset + size_bytes) {
    size_bytes += next->second;
    next = block.free.erase(next);
  }
  if (next != block.free.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += size_bytes;
      return;
    }
  }
  block.free.emplace(offset, size_bytes);
}

}  // namespace

MemoryBlocks::MemoryBlocks(const VulkanApi& api, VkDevice device,
                           const PhysicalDevice& gpu, uint64_t limit_bytes,
                           DeviceFault& fault)
    : api_(api),
      device_(device),
      gpu_(gpu),
      block_bytes_(RoundUp(std::clamp(limit_bytes / 16, kSmallestBlockBytes,
                                      kLargestBlockBytes))),
      fault_(fault) {}

MemoryBlocks::~MemoryBlocks() {
  absl::MutexLock lock(&mu_);
  for (const auto& block : blocks_) Destroy(*block);
}

int MemoryBlocks::block_count() const {
  absl::MutexLock lock(&mu_);
  return static_cast<int>(blocks_.size());
}

uint32_t MemoryBlocks::TypeOf(MemoryKind kind, uint32_t allowed) const {
  constexpr VkMemoryPropertyFlags kHostFlags =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
      VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  const VkMemoryPropertyFlags needed =
      kind == MemoryKind::kDevice ? 0 : kHostFlags;
  const VkMemoryPropertyFlags wished =
      kind == MemoryKind::kHost ? VK_MEMORY_PROPERTY_HOST_CACHED_BIT
                                : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  uint32_t found = UINT32_MAX;
  for (uint32_t i = 0; i < gpu_.memory.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags =
        gpu_.memory.memoryTypes[i].propertyFlags;
    if ((allowed >> i & 1) == 0 || (flags & needed) != needed) continue;
    if ((flags & wished) == wished) return i;
    if (found == UINT32_MAX) found = i;
  }
  return found;
}

absl::Status MemoryBlocks::Fill(MemoryBlock& block) const {
  const VkBufferCreateInfo buffer_info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .size = block.size_bytes,
      .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT |
               VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
               VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
  absl::Status status = fault_.Check(
      api_.CreateBuffer(device_, &buffer_info, nullptr, &block.buffer),
      "vkCreateBuffer");
  if (!status.ok()) return status;
  VkMemoryRequirements needs = {};
  api_.GetBufferMemoryRequirements(device_, block.buffer, &needs);
  const VkMemoryAllocateFlagsInfo flags = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
      .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
  const VkMemoryAllocateInfo allocate = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
      .pNext = &flags,
      .allocationSize = needs.size,
      .memoryTypeIndex = TypeOf(block.kind, needs.memoryTypeBits)};
  if (allocate.memoryTypeIndex == UINT32_MAX) {
    return absl::InternalError("the device has no memory of the kind");
  }
  status = fault_.Check(
      api_.AllocateMemory(device_, &allocate, nullptr, &block.memory),
      "vkAllocateMemory");
  if (!status.ok()) return status;
  status = fault_.Check(
      api_.BindBufferMemory(device_, block.buffer, block.memory, 0),
      "vkBindBufferMemory");
  if (status.ok() && block.kind != MemoryKind::kDevice) {
    void* mapped = nullptr;
    status = fault_.Check(
        api_.MapMemory(device_, block.memory, 0, VK_WHOLE_SIZE, 0, &mapped),
        "vkMapMemory");
    block.host_address = static_cast<std::byte*>(mapped);
  }
  if (!status.ok()) return status;
  const VkBufferDeviceAddressInfo address = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
      .buffer = block.buffer};
  block.device_address = api_.GetBufferDeviceAddress(device_, &address);
  return absl::OkStatus();
}

void MemoryBlocks::Destroy(MemoryBlock& block) const {
  if (block.buffer != VK_NULL_HANDLE) {
    api_.DestroyBuffer(device_, block.buffer, nullptr);
  }
  if (block.memory != VK_NULL_HANDLE) {
    api_.FreeMemory(device_, block.memory, nullptr);
  }
}

absl::StatusOr<MemoryBlock*> MemoryBlocks::AddBlock(uint64_t size_bytes,
                                                    MemoryKind kind) {
  auto block = std::make_unique<MemoryBlock>();
  block->kind = kind;
  block->is_dedicated = size_bytes > block_bytes_ / 2;
  block->size_bytes = block->is_dedicated ? size_bytes : block_bytes_;
  if (block->size_bytes > gpu_.max_allocation_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(size_bytes, " bytes are above the ",
                     gpu_.max_allocation_bytes, " of one allocation"));
  }
  block->free.emplace(0, block->size_bytes);
  if (absl::Status status = Fill(*block); !status.ok()) {
    Destroy(*block);
    return status;
  }
  blocks_.push_back(std::move(block));
  return blocks_.back().get();
}

absl::StatusOr<MemoryRange> MemoryBlocks::Allocate(uint64_t size_bytes,
                                                   MemoryKind kind) {
  // A storage of no bytes has a place too.
  const uint64_t bytes = RoundUp(std::max<uint64_t>(size_bytes, 1));
  absl::MutexLock lock(&mu_);
  MemoryBlock* block = nullptr;
  uint64_t offset = 0;
  for (const auto& candidate : blocks_) {
    if (candidate->kind == kind && Take(*candidate, bytes, offset)) {
      block = candidate.get();
      break;
    }
  }
  if (block == nullptr) {
    absl::StatusOr<MemoryBlock*> added = AddBlock(bytes, kind);
    if (!added.ok()) return added.status();
    block = *added;
    Take(*block, bytes, offset);
  }
  MemoryRange range;
  range.block = block;
  range.buffer = block->buffer;
  range.offset = offset;
  range.size_bytes = size_bytes;
  range.device_address = block->device_address + offset;
  if (block->host_address != nullptr) {
    range.host_address = block->host_address + offset;
  }
  return range;
}

void MemoryBlocks::Free(const MemoryRange& range) {
  absl::MutexLock lock(&mu_);
  MemoryBlock& block = *range.block;
  GiveBack(block, range.offset,
           RoundUp(std::max<uint64_t>(range.size_bytes, 1)));
  if (!block.is_empty()) return;
  const bool has_other =
      std::any_of(blocks_.begin(), blocks_.end(), [&block](const auto& other) {
        return other.get() != &block && other->kind == block.kind &&
               !other->is_dedicated && other->is_empty();
      });
  if (!block.is_dedicated && !has_other) return;
  Destroy(block);
  blocks_.erase(std::find_if(
      blocks_.begin(), blocks_.end(),
      [&block](const auto& other) { return other.get() == &block; }));
}

}  // namespace tensord::vulkan
