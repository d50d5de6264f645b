#ifndef TENSORD_SERVER_METRICS_BYTE_BUCKETS_H_
#define TENSORD_SERVER_METRICS_BYTE_BUCKETS_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tensord::metrics {

// The buckets of histograms of bytes: powers of four from 64 B to 64 GiB, 16
// edges that never change. The upper edge belongs to its bucket.
struct ByteBuckets {
  static constexpr size_t kEdgeCount = 16;
  static constexpr size_t kBucketCount = kEdgeCount + 1;

  static constexpr uint64_t Edge(size_t bucket) {
    return uint64_t{64} << (2 * bucket);
  }
  static constexpr size_t Index(uint64_t bytes) {
    if (bytes <= Edge(0)) return 0;
    // The number of bits of (bytes - 1) is 7 or 8 for bucket 1, and so on.
    return std::min<size_t>((std::bit_width(bytes - 1) - 5) / 2, kEdgeCount);
  }
};

}  // namespace tensord::metrics

#endif  // TENSORD_SERVER_METRICS_BYTE_BUCKETS_H_
