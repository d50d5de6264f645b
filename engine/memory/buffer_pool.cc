#include "engine/memory/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/api/storage.h"

namespace tensord {
namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;
constexpr size_t kLargestClassBytes = size_t{1} << 47;

size_t ClassBytes(int size_class) { return size_t{1} << size_class; }

// The class of the smallest power of two that holds `size`.
int SizeClass(size_t size) {
  return std::bit_width(std::max(size, size_t{kStorageAlignment}) - 1);
}

}  // namespace

PooledBuffer& PooledBuffer::operator=(PooledBuffer&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(size_class_, other.size_class_);
  return *this;
}

PooledBuffer::~PooledBuffer() {
  if (data_ != nullptr) pool_->Release(data_, size_class_);
}

BufferPool::BufferPool(uint64_t max_idle_bytes)
    : max_idle_bytes_(max_idle_bytes) {}

BufferPool::~BufferPool() {
  for (const auto& buffers : idle_) {
    for (std::byte* data : buffers) std::free(data);
  }
}

absl::StatusOr<PooledBuffer> BufferPool::Allocate(size_t size) {
  if (size > kLargestClassBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no host buffer of ", size, " bytes"));
  }
  const int size_class = SizeClass(size);
  {
    absl::MutexLock lock(&mu_);
    loaned_bytes_ += ClassBytes(size_class);
    auto& buffers = idle_[size_class];
    if (!buffers.empty()) {
      std::byte* data = buffers.back();
      buffers.pop_back();
      idle_bytes_ -= ClassBytes(size_class);
      return PooledBuffer(this, data, size, size_class);
    }
  }
  const size_t bytes = ClassBytes(size_class);
  const size_t alignment =
      bytes >= kHugePageBytes ? kHugePageBytes : size_t{kStorageAlignment};
  void* data = std::aligned_alloc(alignment, bytes);
  if (data == nullptr) {
    absl::MutexLock lock(&mu_);
    loaned_bytes_ -= bytes;
    return absl::ResourceExhaustedError(absl::StrCat(
        "no host buffer of ", size, " bytes: ", loaned_bytes_, " are in use"));
  }
  if (bytes >= kHugePageBytes) madvise(data, bytes, MADV_HUGEPAGE);
  return PooledBuffer(this, static_cast<std::byte*>(data), size, size_class);
}

void BufferPool::Release(std::byte* data, int size_class) {
  const size_t bytes = ClassBytes(size_class);
  {
    absl::MutexLock lock(&mu_);
    loaned_bytes_ -= bytes;
    if (idle_bytes_ + bytes <= max_idle_bytes_) {
      idle_bytes_ += bytes;
      idle_[size_class].push_back(data);
      return;
    }
  }
  std::free(data);
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
