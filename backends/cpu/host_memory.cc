#include "backends/cpu/host_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "backends/api/storage.h"
#include "backends/cpu/cgroup.h"

namespace tensord {

std::byte* AllocateHostMemory(uint64_t size_bytes) {
  const bool is_large = size_bytes >= kHugePageBytes;
  void* address = nullptr;
  // A size of 0 also gets an address of its own.
  if (posix_memalign(&address, is_large ? kHugePageBytes : kStorageAlignment,
                     std::max<uint64_t>(size_bytes, 1)) != 0) {
    return nullptr;
  }
  // A hint: where the kernel has no huge pages, the small ones do.
  if (is_large) madvise(address, size_bytes, MADV_HUGEPAGE);
  return static_cast<std::byte*>(address);
}

void FreeHostMemory(std::byte* address) { std::free(address); }

uint64_t HostMemoryLimitBytes(absl::string_view root) {
  const uint64_t physical_bytes =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
      static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(physical_bytes,
                  CgroupMemoryLimitBytes(root).value_or(physical_bytes));
}

}  // namespace tensord
