#include "engine/memory/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/api/backend.h"
#include "backends/api/host_memory_budget.h"
#include "backends/api/storage.h"

namespace tensord {
namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;
constexpr size_t kLargestClassBytes = size_t{1} << 47;

// Pinned memory comes in pages, and takes long to make.
constexpr size_t kMinDeviceBytes = size_t{4} << 10;

size_t ClassBytes(int size_class) { return size_t{1} << size_class; }

// The class of the smallest power of two that holds `size`.
int SizeClass(size_t size) {
  return std::bit_width(std::max(size, size_t{kStorageAlignment}) - 1);
}

}  // namespace

PooledBuffer& PooledBuffer::operator=(PooledBuffer&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(data_, other.data_);
  std::swap(storage_, other.storage_);
  std::swap(size_, other.size_);
  std::swap(size_class_, other.size_class_);
  std::swap(shared_, other.shared_);
  return *this;
}

PooledBuffer::~PooledBuffer() {
  if (pool_ != nullptr) pool_->Release({data_, storage_}, size_class_);
}

PooledBuffer PooledBuffer::ShareOf(std::shared_ptr<const PooledBuffer> buffer) {
  // Readers get it as const; the members serve both kinds.
  PooledBuffer share(nullptr, const_cast<std::byte*>(buffer->data()),
                     buffer->storage_, buffer->size(), 0);
  share.shared_ = std::move(buffer);
  return share;
}

BufferPool::BufferPool(uint64_t max_idle_bytes)
    : max_idle_bytes_(max_idle_bytes) {}

BufferPool::~BufferPool() { FreeIdle(); }

void BufferPool::FreeIdle() {
  std::array<std::vector<Block>, kClassCount> idle;
  {
    absl::MutexLock lock(&mu_);
    idle.swap(idle_);
    idle_bytes_ = 0;
  }
  for (int size_class = 0; size_class < kClassCount; ++size_class) {
    for (const Block& block : idle[size_class]) Free(block, size_class);
  }
}

void BufferPool::UseDevice(Device* device) {
  std::vector<std::pair<Block, int>> freed;
  {
    absl::MutexLock lock(&mu_);
    device_ = device;
    if (device != nullptr) return;
    for (int size_class = 0; size_class < kClassCount; ++size_class) {
      std::vector<Block>& blocks = idle_[size_class];
      const auto devices = std::stable_partition(
          blocks.begin(), blocks.end(),
          [](const Block& block) { return block.storage == nullptr; });
      idle_bytes_ -= (blocks.end() - devices) * ClassBytes(size_class);
      for (auto block = devices; block != blocks.end(); ++block) {
        freed.emplace_back(*block, size_class);
      }
      blocks.erase(devices, blocks.end());
    }
  }
  for (const auto& [block, size_class] : freed) Free(block, size_class);
}

absl::StatusOr<PooledBuffer> BufferPool::Allocate(size_t size) {
  if (size > kLargestClassBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no host buffer of ", size, " bytes"));
  }
  const int size_class = SizeClass(size);
  const size_t bytes = ClassBytes(size_class);
  Block block;
  Device* device = nullptr;
  {
    absl::MutexLock lock(&mu_);
    loaned_bytes_ += bytes;
    block = TakeIdle(size_class);
    device = device_;
  }
  if (block.data == nullptr) {
    const absl::StatusOr<Block> made = AllocateBlock(bytes, device);
    if (!made.ok()) {
      absl::MutexLock lock(&mu_);
      loaned_bytes_ -= bytes;
      return made.status();
    }
    block = *made;
  }
  return PooledBuffer(this, block.data, block.storage, size, size_class);
}

BufferPool::Block BufferPool::TakeIdle(int size_class) {
  std::vector<Block>& blocks = idle_[size_class];
  if (blocks.empty()) return {};
  const Block block = blocks.back();
  blocks.pop_back();
  idle_bytes_ -= ClassBytes(size_class);
  return block;
}

absl::Status BufferPool::ReserveBytes(size_t bytes) {
  constexpr absl::string_view kWhat = "a tensor";
  if (budget_ == nullptr || budget_->Reserve(bytes, kWhat).ok()) {
    return absl::OkStatus();
  }
  FreeIdle();
  return budget_->Reserve(bytes, kWhat);
}

absl::StatusOr<BufferPool::Block> BufferPool::AllocateBlock(size_t bytes,
                                                            Device* device) {
  if (device != nullptr && bytes >= kMinDeviceBytes) {
    // One that is full or lost is no reason to refuse a request.
    absl::StatusOr<std::unique_ptr<Storage>> storage =
        device->AllocateHostVisible(bytes);
    if (storage.ok()) {
      const Storage* owned = storage->release();
      return Block{owned->address(), owned};
    }
  }
  if (absl::Status status = ReserveBytes(bytes); !status.ok()) return status;
  const size_t alignment =
      bytes >= kHugePageBytes ? kHugePageBytes : size_t{kStorageAlignment};
  void* data = std::aligned_alloc(alignment, bytes);
  if (data == nullptr) {
    if (budget_ != nullptr) budget_->Release(bytes);
    return absl::ResourceExhaustedError(
        absl::StrCat("no host buffer of ", bytes, " bytes: ", loaned_bytes(),
                     " are in use"));
  }
  if (bytes >= kHugePageBytes) madvise(data, bytes, MADV_HUGEPAGE);
  return Block{static_cast<std::byte*>(data), nullptr};
}

void BufferPool::Free(Block block, int size_class) {
  if (block.storage != nullptr) {
    delete block.storage;
    return;
  }
  std::free(block.data);
  if (budget_ != nullptr) budget_->Release(ClassBytes(size_class));
}

void BufferPool::Release(Block block, int size_class) {
  const size_t bytes = ClassBytes(size_class);
  {
    absl::MutexLock lock(&mu_);
    loaned_bytes_ -= bytes;
    const bool may_be_kept = block.storage == nullptr || device_ != nullptr;
    if (may_be_kept && idle_bytes_ + bytes <= max_idle_bytes_) {
      idle_bytes_ += bytes;
      idle_[size_class].push_back(block);
      return;
    }
  }
  Free(block, size_class);
}

uint64_t BufferPool::idle_bytes() const {
  absl::MutexLock lock(&mu_);
  return idle_bytes_;
}

uint64_t BufferPool::loaned_bytes() const {
  absl::MutexLock lock(&mu_);
  return loaned_bytes_;
}

}  // namespace tensord
