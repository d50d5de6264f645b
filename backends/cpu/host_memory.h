#ifndef TENSORD_BACKENDS_CPU_HOST_MEMORY_H_
#define TENSORD_BACKENDS_CPU_HOST_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace tensord {

// The CPU backend's memory.
// Threading: call from anywhere. Ownership: what AllocateHostMemory() returns
//   is given back to FreeHostMemory().

// Uninitialised bytes aligned to kStorageAlignment, never null but when the
// system has no memory left. From kHugePageBytes on they are aligned to that,
// and the kernel is asked for huge pages: a matrix of some MiB otherwise spends
// a good part of its time in TLB misses and in faults of 4 KiB each.
std::byte* AllocateHostMemory(uint64_t size_bytes);
void FreeHostMemory(std::byte* address);

inline constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;

// What this process may use: the machine's memory, or less by its control
// group. `root` is put before the control group's paths, for tests.
uint64_t HostMemoryLimitBytes(absl::string_view root = "");

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_HOST_MEMORY_H_
