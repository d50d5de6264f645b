#ifndef TENSORD_ENGINE_PROFILE_STRIPED_HISTOGRAMS_H_
#define TENSORD_ENGINE_PROFILE_STRIPED_HISTOGRAMS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/profile/duration_buckets.h"
#include "engine/profile/striped_rows.h"

namespace tensord::op_profile {

// Histograms that many threads write at once. `Buckets` has kBucketCount and
// Index(value).
//
// Threading: as StripedRows; a row takes 3 KB from its first use on.
template <typename Buckets>
class StripedHistograms {
 public:
  struct Reading {
    std::array<uint64_t, Buckets::kBucketCount> counts{};
    uint64_t sum = 0;
  };

  explicit StripedHistograms(size_t row_count) : rows_(row_count) {}

  size_t row_count() const { return rows_.row_count(); }
  bool IsUsed(size_t row) const { return rows_.IsUsed(row); }

  void Add(size_t row, uint64_t value) {
    Cell& cell = rows_.Mine(row);
    cell.counts[Buckets::Index(value)].fetch_add(1, std::memory_order_relaxed);
    cell.sum.fetch_add(value, std::memory_order_relaxed);
  }

  Reading Read(size_t row) const {
    Reading reading;
    rows_.ForEachStripe(row, [&reading](const Cell& cell) {
      for (size_t i = 0; i < reading.counts.size(); ++i) {
        reading.counts[i] += cell.counts[i].load(std::memory_order_relaxed);
      }
      reading.sum += cell.sum.load(std::memory_order_relaxed);
    });
    return reading;
  }

 private:
  struct Cell {
    std::atomic<uint64_t> sum{0};
    std::array<std::atomic<uint64_t>, Buckets::kBucketCount> counts{};
  };

  StripedRows<Cell> rows_;
};

struct DurationBuckets {
  static constexpr size_t kBucketCount = kDurationBucketCount;
  static size_t Index(uint64_t duration_ns) {
    return DurationBucket(duration_ns);
  }
};
using StripedDurations = StripedHistograms<DurationBuckets>;

inline DurationHistogram ReadDurations(const StripedDurations& durations,
                                       size_t row) {
  const auto reading = durations.Read(row);
  return {reading.counts, reading.sum};
}

}  // namespace tensord::op_profile

#endif  // TENSORD_ENGINE_PROFILE_STRIPED_HISTOGRAMS_H_
