#include "tests/engine/steady_state/malloc_count.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "tests/support/allocation_count.h"
#include "tests/support/sanitizers.h"

#if TENSORD_ADDRESS_SANITIZER || TENSORD_THREAD_SANITIZER

namespace tensord {

int64_t MallocCount() { return AllocationCount(); }

}  // namespace tensord

#else

namespace {

std::atomic<int64_t> g_count{0};

void Count() { g_count.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

// glibc lets a program have these instead of its own, and keeps its own under
// the names that they end in here.
extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

__attribute__((visibility("default"))) void* malloc(size_t size) {
  Count();
  return __libc_malloc(size);
}
__attribute__((visibility("default"))) void* calloc(size_t count, size_t size) {
  Count();
  return __libc_calloc(count, size);
}
__attribute__((visibility("default"))) void* realloc(void* block, size_t size) {
  Count();
  return __libc_realloc(block, size);
}
__attribute__((visibility("default"))) void* aligned_alloc(size_t alignment,
                                                           size_t size) {
  Count();
  return __libc_memalign(alignment, size);
}
__attribute__((visibility("default"))) int posix_memalign(void** block,
                                                          size_t alignment,
                                                          size_t size) {
  Count();
  *block = __libc_memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}

}  // extern "C"

namespace tensord {

int64_t MallocCount() { return g_count.load(std::memory_order_relaxed); }

}  // namespace tensord

#endif
