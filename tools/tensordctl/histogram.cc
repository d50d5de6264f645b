#include "tools/tensordctl/histogram.h"

namespace tensord::ctl {

absl::optional<double> QuantileNs(absl::Span<const int64_t> bounds_ns,
                                  absl::Span<const int64_t> counts,
                                  double quantile) {
  if (bounds_ns.empty() || counts.size() != bounds_ns.size() + 1) {
    return absl::nullopt;
  }
  double total = 0;
  for (int64_t count : counts) total += static_cast<double>(count);
  if (total <= 0) return absl::nullopt;
  const double rank = quantile * total;
  double below = 0;
  for (size_t i = 0; i < bounds_ns.size(); ++i) {
    const double count = static_cast<double>(counts[i]);
    if (count > 0 && below + count >= rank) {
      const double low = i == 0 ? 0 : static_cast<double>(bounds_ns[i - 1]);
      const double high = static_cast<double>(bounds_ns[i]);
      return low + (high - low) * (rank - below) / count;
    }
    below += count;
  }
  return static_cast<double>(bounds_ns.back());
}

}  // namespace tensord::ctl
