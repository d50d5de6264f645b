#ifndef TENSORD_BACKENDS_API_HOST_MEMORY_BUDGET_H_
#define TENSORD_BACKENDS_API_HOST_MEMORY_BUDGET_H_

#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tensord {

// The host's memory that large things of a process share: arenas of the CPU,
// tensors of requests, answers and sessions, graphs that are being read. Who
// needs it first has it; a fixed part for each would refuse work that fits.
//
// Threading: thread-safe without a lock.
// Ownership: outlives what is reserved from it.
class HostMemoryBudget {
 public:
  explicit HostMemoryBudget(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  HostMemoryBudget(const HostMemoryBudget&) = delete;

  // kResourceExhausted with what it was for, the amount asked for, the use and
  // the limit.
  absl::Status Reserve(uint64_t bytes, absl::string_view what);

  // Gives back what a Reserve() took.
  void Release(uint64_t bytes) {
    used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }

  uint64_t used_bytes() const {
    return used_bytes_.load(std::memory_order_relaxed);
  }
  uint64_t limit_bytes() const { return limit_bytes_; }

  // A part that is given back by itself. Threading: one owner at a time.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept { *this = std::move(other); }
    Lease& operator=(Lease&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Lease() { Release(); }

    void Release() {
      if (budget_ != nullptr) budget_->Release(bytes_);
      budget_ = nullptr;
    }

   private:
    friend class HostMemoryBudget;
    Lease(HostMemoryBudget* budget, uint64_t bytes)
        : budget_(budget), bytes_(bytes) {}

    HostMemoryBudget* budget_ = nullptr;
    uint64_t bytes_ = 0;
  };

  // Reserve(), as something that can be kept.
  absl::StatusOr<Lease> Take(uint64_t bytes, absl::string_view what);

 private:
  const uint64_t limit_bytes_;
  std::atomic<uint64_t> used_bytes_{0};
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_HOST_MEMORY_BUDGET_H_
