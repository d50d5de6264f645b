#ifndef TENSORD_ENGINE_PROFILE_DURATION_BUCKETS_H_
#define TENSORD_ENGINE_PROFILE_DURATION_BUCKETS_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

// The buckets of every duration histogram of the process, 100 ns to 60 s.
//
// They never change: a stored series with other edges cannot be added to a new
// one. Steps of about four keep the relative error the same all the way; a
// 1-3-10 ladder over this range needs 18 edges, and 16 is what an (op, backend)
// series may cost.
//
// Threading and ownership: constants and pure functions.
namespace tensord::op_profile {

// Upper edges, inclusive, as Prometheus' `le` is.
inline constexpr std::array<uint64_t, 16> kDurationEdgesNs = {
    100,           400,           1'500,          6'000,
    25'000,        100'000,       400'000,        1'500'000,
    6'000'000,     25'000'000,    100'000'000,    400'000'000,
    1'500'000'000, 6'000'000'000, 25'000'000'000, 60'000'000'000};

inline constexpr size_t kDurationEdgeCount = kDurationEdgesNs.size();
// One more than edges: the last bucket is what took longer than the last edge.
inline constexpr size_t kDurationBucketCount = kDurationEdgeCount + 1;

namespace internal {

// For each bit width w of a duration, the bucket of its smallest value,
// 2^(w-1). Edges are at least a factor of two apart, so a width crosses at most
// one of them and one comparison finishes the lookup.
struct BucketByWidth {
  std::array<uint8_t, 65> first_bucket{};

  constexpr BucketByWidth() {
    for (int width = 0; width <= 64; ++width) {
      const uint64_t smallest = width == 0 ? 0 : uint64_t{1} << (width - 1);
      uint8_t bucket = 0;
      while (bucket < kDurationEdgeCount &&
             smallest > kDurationEdgesNs[bucket]) {
        ++bucket;
      }
      first_bucket[width] = bucket;
    }
  }
};
inline constexpr BucketByWidth kBucketByWidth;

// The edge of the last bucket, so that the comparison needs no bounds check.
inline constexpr auto kPaddedEdgesNs = [] {
  std::array<uint64_t, kDurationBucketCount> edges{};
  for (size_t i = 0; i < kDurationEdgeCount; ++i)
    edges[i] = kDurationEdgesNs[i];
  edges[kDurationEdgeCount] = UINT64_MAX;
  return edges;
}();

constexpr bool EdgesAreFarApart() {
  for (size_t i = 1; i < kDurationEdgeCount; ++i) {
    if (kDurationEdgesNs[i] < 2 * kDurationEdgesNs[i - 1]) return false;
  }
  return true;
}
static_assert(EdgesAreFarApart());

}  // namespace internal

// The first bucket whose edge is at least `duration_ns`.
constexpr size_t DurationBucket(uint64_t duration_ns) {
  const size_t bucket =
      internal::kBucketByWidth.first_bucket[std::bit_width(duration_ns)];
  return bucket + (duration_ns > internal::kPaddedEdgesNs[bucket] ? 1 : 0);
}

// A histogram as a reader gets it: counts per bucket, not cumulative.
struct DurationHistogram {
  std::array<uint64_t, kDurationBucketCount> counts{};
  uint64_t sum_ns = 0;

  uint64_t count() const {
    uint64_t total = 0;
    for (uint64_t count : counts) total += count;
    return total;
  }
};

}  // namespace tensord::op_profile

#endif  // TENSORD_ENGINE_PROFILE_DURATION_BUCKETS_H_
