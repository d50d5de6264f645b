#ifndef TENSORD_ENGINE_PROFILE_STRIPED_COUNTERS_H_
#define TENSORD_ENGINE_PROFILE_STRIPED_COUNTERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/profile/striped_rows.h"

namespace tensord::op_profile {

// Counters that many threads write at once.
//
// Threading: as StripedRows; a row takes 1 KB from its first use on.
class StripedCounters {
 public:
  explicit StripedCounters(size_t row_count) : rows_(row_count) {}

  size_t row_count() const { return rows_.row_count(); }
  bool IsUsed(size_t row) const { return rows_.IsUsed(row); }

  void Add(size_t row, uint64_t n) {
    rows_.Mine(row).fetch_add(n, std::memory_order_relaxed);
  }

  uint64_t Read(size_t row) const {
    uint64_t total = 0;
    rows_.ForEachStripe(row, [&total](const std::atomic<uint64_t>& cell) {
      total += cell.load(std::memory_order_relaxed);
    });
    return total;
  }

 private:
  StripedRows<std::atomic<uint64_t>> rows_;
};

}  // namespace tensord::op_profile

#endif  // TENSORD_ENGINE_PROFILE_STRIPED_COUNTERS_H_
