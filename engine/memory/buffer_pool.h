#ifndef TENSORD_ENGINE_MEMORY_BUFFER_POOL_H_
#define TENSORD_ENGINE_MEMORY_BUFFER_POOL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

namespace tensord {

class BufferPool;
class Device;
class HostMemoryBudget;
class Storage;

// Host memory for one tensor of a request or of an answer: aligned to
// kStorageAlignment, uninitialised.
//
// Threading: one owner at a time. Ownership: goes back to its pool, which must
// outlive it, when destroyed; a share keeps the buffer that it is of instead.
class PooledBuffer {
 public:
  PooledBuffer() = default;
  // All bytes of `buffer`, for reading, without a copy of them: a tensor that
  // several runs or answers have at once.
  static PooledBuffer ShareOf(std::shared_ptr<const PooledBuffer> buffer);

  PooledBuffer(PooledBuffer&& other) noexcept { *this = std::move(other); }
  PooledBuffer& operator=(PooledBuffer&& other) noexcept;
  ~PooledBuffer();

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  // Keeps the first `size` bytes; at most size().
  void Truncate(size_t size) { size_ = size; }
  absl::Span<std::byte> bytes() { return {data_, size_}; }
  absl::Span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  friend class BufferPool;
  PooledBuffer(BufferPool* pool, std::byte* data, const Storage* storage,
               size_t size, int size_class)
      : pool_(pool),
        data_(data),
        storage_(storage),
        size_(size),
        size_class_(size_class) {}

  BufferPool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  const Storage* storage_ = nullptr;  // that the data is in; null: the heap
  size_t size_ = 0;
  int size_class_ = 0;
  std::shared_ptr<const PooledBuffer> shared_;  // of a share; it has no pool
};

// Buffers by size class (powers of two from 64 bytes), kept for the next
// request up to a byte limit: what is on loan is limited by admission, and by
// the budget that the pool shares with others where it has one. Buffers of 2
// MiB and more ask for huge pages; a first touch of small pages cost a third of
// the bandwidth of large tensors.
//
// With a device, buffers of a page and more are in host memory that it copies
// from and to without a detour (Device::AllocateHostVisible), as long as it
// gives some; else they are on the heap like the others.
//
// Threading: every method may be called from any thread.
// Ownership: borrows the device and the budget.
class BufferPool {
 public:
  explicit BufferPool(uint64_t max_idle_bytes);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;

  // From now on new buffers are such a device's; null: of none, and nothing is
  // kept that is. Buffers on loan then must come back before it goes.
  void UseDevice(Device* device);

  // What heap buffers are taken from, idle ones too; those are given up before
  // anybody is refused. Call it before the first Allocate().
  void UseBudget(HostMemoryBudget* budget) { budget_ = budget; }

  // kResourceExhausted when the budget or the machine has no memory for it.
  absl::StatusOr<PooledBuffer> Allocate(size_t size);

  uint64_t idle_bytes() const;
  uint64_t loaned_bytes() const;

 private:
  friend class PooledBuffer;
  static constexpr int kClassCount = 48;

  // Memory of one size class. Owned by whoever has it.
  struct Block {
    std::byte* data = nullptr;
    const Storage* storage = nullptr;  // null: from the heap
  };

  // An idle one, or none.
  Block TakeIdle(int size_class) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<Block> AllocateBlock(size_t bytes, Device* device)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Of the budget; gives idle buffers up for it.
  absl::Status ReserveBytes(size_t bytes) ABSL_LOCKS_EXCLUDED(mu_);
  void FreeIdle() ABSL_LOCKS_EXCLUDED(mu_);
  void Free(Block block, int size_class);
  void Release(Block block, int size_class);

  const uint64_t max_idle_bytes_;
  HostMemoryBudget* budget_ = nullptr;
  mutable absl::Mutex mu_;
  Device* device_ ABSL_GUARDED_BY(mu_) = nullptr;
  std::array<std::vector<Block>, kClassCount> idle_ ABSL_GUARDED_BY(mu_);
  uint64_t idle_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t loaned_bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_MEMORY_BUFFER_POOL_H_
