#include "tests/support/allocation_count.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> g_count{0};

void* Allocate(size_t size, size_t alignment) {
  g_count.fetch_add(1, std::memory_order_relaxed);
  void* block = nullptr;
  if (posix_memalign(&block, std::max(alignment, sizeof(void*)),
                     std::max<size_t>(size, 1)) != 0) {
    std::abort();
  }
  return block;
}

}  // namespace

// The array forms of the standard library end in these. Its nothrow forms do
// too, but those of a sanitizer do not, and free() would then meet a foreign
// block.
void* operator new(size_t size) {
  return Allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(size_t size, std::align_val_t alignment) {
  return Allocate(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return Allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(size_t size, std::align_val_t alignment,
                   const std::nothrow_t&) noexcept {
  return Allocate(size, static_cast<size_t>(alignment));
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept {
  std::free(block);
}
void operator delete(void* block, size_t, std::align_val_t) noexcept {
  std::free(block);
}

namespace tensord {

int64_t AllocationCount() { return g_count.load(std::memory_order_relaxed); }

}  // namespace tensord
