#include "backends/api/memory_budget.h"

#include "absl/strings/str_cat.h"

namespace tensord {

absl::Status MemoryBudget::Reserve(uint64_t bytes) {
  uint64_t used = used_bytes_.load(std::memory_order_relaxed);
  do {
    // `used` is never above the limit, so the difference cannot wrap.
    if (bytes > limit_bytes_ - used) {
      return absl::ResourceExhaustedError(
          absl::StrCat("device ", device_.ToString(), ": ", bytes,
                       " bytes of memory asked for, ", used, " of ",
                       limit_bytes_, " in use"));
    }
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes,
                                              std::memory_order_relaxed));
  return absl::OkStatus();
}

absl::Status MemoryBudget::RefusedBySystem(uint64_t bytes,
                                           const char* reason) const {
  return absl::ResourceExhaustedError(
      absl::StrCat("device ", device_.ToString(), ": ", bytes,
                   " bytes of memory asked for, ", used_bytes() - bytes, " of ",
                   limit_bytes_, " in use, and the system refused: ", reason));
}

}  // namespace tensord
