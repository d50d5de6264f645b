#include "backends/api/host_memory_budget.h"

#include "absl/strings/str_cat.h"

namespace tensord {

absl::Status HostMemoryBudget::Reserve(uint64_t bytes, absl::string_view what) {
  uint64_t used = used_bytes_.load(std::memory_order_relaxed);
  do {
    // `used` is never above the limit, so the difference cannot wrap.
    if (bytes > limit_bytes_ - used) {
      return absl::ResourceExhaustedError(
          absl::StrCat("host memory: ", bytes, " bytes asked for (", what,
                       "), ", used, " of ", limit_bytes_, " in use"));
    }
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes,
                                              std::memory_order_relaxed));
  return absl::OkStatus();
}

absl::StatusOr<HostMemoryBudget::Lease> HostMemoryBudget::Take(
    uint64_t bytes, absl::string_view what) {
  if (absl::Status status = Reserve(bytes, what); !status.ok()) return status;
  return Lease(this, bytes);
}

}  // namespace tensord
