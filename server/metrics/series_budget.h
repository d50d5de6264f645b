#ifndef TENSORD_SERVER_METRICS_SERIES_BUDGET_H_
#define TENSORD_SERVER_METRICS_SERIES_BUDGET_H_

#include <cstddef>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace tensord::metrics {

// How many series may exist. Rows are admitted in the order in which they first
// appear, and an admitted row stays: a series that came and went would look
// like a reset to whoever stores it.
//
// Threading: confined to one thread at a time; the collector guards it.
class SeriesBudget {
 public:
  explicit SeriesBudget(size_t max_series) : max_series_(max_series) {}

  // Whether the row named `key`, of `series_count` series, may be shown. A key
  // has the same count every time.
  bool Admit(absl::string_view key, size_t series_count) {
    if (const auto it = rows_.find(key); it != rows_.end()) return it->second;
    // Bounded too: keys of refused rows are remembered, to be counted, only so
    // long as there are not more of them than series.
    const bool is_admitted = used_ + series_count <= max_series_;
    if (is_admitted) {
      used_ += series_count;
    } else if (refused_ >= max_series_) {
      return false;
    } else {
      ++refused_;
    }
    rows_.emplace(std::string(key), is_admitted);
    return is_admitted;
  }

  size_t used() const { return used_; }
  size_t refused_rows() const { return refused_; }

 private:
  const size_t max_series_;
  size_t used_ = 0;
  size_t refused_ = 0;
  absl::flat_hash_map<std::string, bool> rows_;
};

}  // namespace tensord::metrics

#endif  // TENSORD_SERVER_METRICS_SERIES_BUDGET_H_
