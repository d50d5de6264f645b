#ifndef TENSORD_BACKENDS_API_MEMORY_BUDGET_H_
#define TENSORD_BACKENDS_API_MEMORY_BUDGET_H_

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/device_id.h"

namespace tensord {

// The bytes of one device's memory that are in use, under its limit. Every
// device holds one, so that all refuse in the same words.
//
// Threading: thread-safe without a lock.
// Ownership: the device's; storages point to it and give back when they die.
class MemoryBudget {
 public:
  MemoryBudget(DeviceId device, uint64_t limit_bytes)
      : device_(device), limit_bytes_(limit_bytes) {}

  // kResourceExhausted with the limit, the use and what was asked for.
  absl::Status Reserve(uint64_t bytes);

  // Gives back what a Reserve() took.
  void Release(uint64_t bytes) {
    used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }

  // The status for bytes that were reserved, and which the system then did not
  // give ("cannot allocate memory").
  absl::Status RefusedBySystem(uint64_t bytes, const char* reason) const;

  uint64_t used_bytes() const {
    return used_bytes_.load(std::memory_order_relaxed);
  }
  uint64_t limit_bytes() const { return limit_bytes_; }

 private:
  const DeviceId device_;
  const uint64_t limit_bytes_;
  std::atomic<uint64_t> used_bytes_{0};
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_MEMORY_BUDGET_H_
