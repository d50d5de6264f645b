#ifndef TENSORD_ENGINE_PROFILE_STRIPED_HISTOGRAMS_H_
#define TENSORD_ENGINE_PROFILE_STRIPED_HISTOGRAMS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/profile/duration_buckets.h"

namespace tensord::op_profile {

inline constexpr size_t kStripeCount = 16;

// Which stripe the calling thread writes: threads are dealt out in turn when
// they first ask, and keep theirs.
size_t ThreadStripe();

// Histograms that many threads write at once: each thread adds to its stripe,
// and a reader adds the stripes up. Two threads on one stripe share a cache
// line and lose nothing.
//
// `Buckets` has kBucketCount and Index(value). Rows are allocated on first use,
// 3 KB each, and only those exist for a reader.
//
// Threading: thread-safe and lock-free; Add() allocates once for each row.
template <typename Buckets>
class StripedHistograms {
 public:
  struct Reading {
    std::array<uint64_t, Buckets::kBucketCount> counts{};
    uint64_t sum = 0;
    uint64_t count = 0;
  };

  explicit StripedHistograms(size_t row_count) : rows_(row_count) {}
  ~StripedHistograms() {
    for (auto& row : rows_) delete row.load(std::memory_order_relaxed);
  }
  StripedHistograms(const StripedHistograms&) = delete;
  StripedHistograms& operator=(const StripedHistograms&) = delete;

  size_t row_count() const { return rows_.size(); }
  bool IsUsed(size_t row) const {
    return rows_[row].load(std::memory_order_acquire) != nullptr;
  }

  void Add(size_t row, uint64_t value) {
    Row* stripes = rows_[row].load(std::memory_order_acquire);
    if (stripes == nullptr) stripes = Allocate(rows_[row]);
    Stripe& stripe = (*stripes)[ThreadStripe()];
    stripe.counts[Buckets::Index(value)].fetch_add(1,
                                                   std::memory_order_relaxed);
    stripe.sum.fetch_add(value, std::memory_order_relaxed);
  }

  Reading Read(size_t row) const {
    Reading reading;
    const Row* stripes = rows_[row].load(std::memory_order_acquire);
    if (stripes == nullptr) return reading;
    for (const Stripe& stripe : *stripes) {
      for (size_t i = 0; i < reading.counts.size(); ++i) {
        const uint64_t count = stripe.counts[i].load(std::memory_order_relaxed);
        reading.counts[i] += count;
        reading.count += count;
      }
      reading.sum += stripe.sum.load(std::memory_order_relaxed);
    }
    return reading;
  }

 private:
  struct alignas(64) Stripe {
    std::atomic<uint64_t> sum{0};
    std::array<std::atomic<uint64_t>, Buckets::kBucketCount> counts{};
  };
  using Row = std::array<Stripe, kStripeCount>;

  static Row* Allocate(std::atomic<Row*>& row) {
    auto fresh = std::make_unique<Row>();
    Row* expected = nullptr;
    if (row.compare_exchange_strong(expected, fresh.get(),
                                    std::memory_order_acq_rel)) {
      return fresh.release();
    }
    return expected;
  }

  std::vector<std::atomic<Row*>> rows_;
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
