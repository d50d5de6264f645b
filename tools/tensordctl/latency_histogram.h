#ifndef TENSORD_TOOLS_TENSORDCTL_LATENCY_HISTOGRAM_H_
#define TENSORD_TOOLS_TENSORDCTL_LATENCY_HISTOGRAM_H_

#include <cstdint>
#include <vector>

namespace tensord::ctl {

// Durations counted in buckets of less than 1 % of their own size, so that a
// run of hours takes the memory of one of seconds.
//
// Threading: confined to one thread at a time.
class LatencyHistogram {
 public:
  LatencyHistogram();

  // Negative is 0.
  void Add(int64_t ns);

  int64_t count() const { return count_; }
  int64_t min_ns() const { return count_ == 0 ? 0 : min_ns_; }
  int64_t max_ns() const { return max_ns_; }
  double mean_ns() const;

  // The duration that a share `q` (0 to 1) of all does not exceed; at most 1 %
  // too large. 0 when there is none.
  int64_t QuantileNs(double q) const;

 private:
  std::vector<int64_t> counts_;
  int64_t count_ = 0;
  int64_t min_ns_ = 0;
  int64_t max_ns_ = 0;
  double total_ns_ = 0;
};

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_LATENCY_HISTOGRAM_H_
