#include "tools/tensordctl/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tensord::ctl {
namespace {

// Each power of two is cut into so many buckets; below twice as many
// nanoseconds every duration has its own.
constexpr int kBits = 7;
constexpr uint64_t kSteps = uint64_t{1} << kBits;

size_t BucketOf(uint64_t ns) {
  const int shift =
      std::max(0, static_cast<int>(std::bit_width(ns)) - kBits - 1);
  return static_cast<size_t>(shift) * kSteps + (ns >> shift);
}

// The largest duration in a bucket.
uint64_t EndOf(size_t bucket) {
  if (bucket < 2 * kSteps) return bucket;
  const int shift = static_cast<int>(bucket / kSteps) - 1;
  const uint64_t steps = bucket - static_cast<uint64_t>(shift) * kSteps;
  return ((steps + 1) << shift) - 1;
}

}  // namespace

LatencyHistogram::LatencyHistogram()
    : counts_(BucketOf(static_cast<uint64_t>(INT64_MAX)) + 1) {}

void LatencyHistogram::Add(int64_t ns) {
  ns = std::max<int64_t>(ns, 0);
  ++counts_[BucketOf(static_cast<uint64_t>(ns))];
  min_ns_ = count_ == 0 ? ns : std::min(min_ns_, ns);
  max_ns_ = std::max(max_ns_, ns);
  total_ns_ += static_cast<double>(ns);
  ++count_;
}

double LatencyHistogram::mean_ns() const {
  return count_ == 0 ? 0 : total_ns_ / static_cast<double>(count_);
}

int64_t LatencyHistogram::QuantileNs(double q) const {
  const auto wanted = std::clamp<int64_t>(
      static_cast<int64_t>(std::ceil(q * static_cast<double>(count_))), 1,
      std::max<int64_t>(count_, 1));
  int64_t below = 0;
  for (size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    below += counts_[bucket];
    if (below >= wanted) {
      return std::min(static_cast<int64_t>(EndOf(bucket)), max_ns_);
    }
  }
  return 0;
}

}  // namespace tensord::ctl
