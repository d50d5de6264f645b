#ifndef TENSORD_SERVER_METRICS_HOLDINGS_STATS_H_
#define TENSORD_SERVER_METRICS_HOLDINGS_STATS_H_

#include <cstdint>
#include <functional>

namespace tensord::metrics {

// What clients hold in the daemon when a scrape asks.
// Threading and ownership: a plain value.
struct HoldingsStats {
  uint64_t sessions = 0;  // those of connections included
  uint64_t resident_tensors = 0;
  uint64_t resident_bytes = 0;  // of these, of uploads, and of what runs use
};

// Called by each scrape, perhaps two at once: thread-safe and quick.
using HoldingsStatsProvider = std::function<HoldingsStats()>;

}  // namespace tensord::metrics

#endif  // TENSORD_SERVER_METRICS_HOLDINGS_STATS_H_
