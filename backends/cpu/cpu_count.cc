#include "backends/cpu/cpu_count.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "backends/cpu/cgroup.h"

namespace tensord {
namespace {

int AllowedCpuCount() {
  // The kernel refuses a set smaller than its own; 1024 CPUs is glibc's fixed
  // size and not enough for every machine.
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    cpu_set_t* set = CPU_ALLOC(capacity);
    if (set == nullptr) break;
    const size_t set_bytes = CPU_ALLOC_SIZE(capacity);
    CPU_ZERO_S(set_bytes, set);
    const bool is_read = sched_getaffinity(0, set_bytes, set) == 0;
    const int count = is_read ? CPU_COUNT_S(set_bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

int CpuCountFrom(int allowed_cpu_count, std::optional<double> quota_cpus) {
  int count = allowed_cpu_count;
  if (quota_cpus.has_value() && *quota_cpus < count) {
    count = static_cast<int>(std::floor(*quota_cpus));
  }
  return std::max(1, count);
}

int CpuCount(absl::string_view root) {
  return CpuCountFrom(AllowedCpuCount(), CgroupCpuQuota(root));
}

}  // namespace tensord
