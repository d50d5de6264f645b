#ifndef TENSORD_TESTS_SERVER_METRICS_PAGE_TEXT_H_
#define TENSORD_TESTS_SERVER_METRICS_PAGE_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"

namespace tensord::metrics {

// The page as a scraper gets it.
inline std::string PageText(
    const std::vector<prometheus::MetricFamily>& families) {
  return prometheus::TextSerializer().Serialize(families);
}

// The lines that are samples: neither comments nor empty.
inline std::vector<std::string> Samples(absl::string_view text) {
  std::vector<std::string> samples;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (!absl::StartsWith(line, "#")) samples.emplace_back(line);
  }
  return samples;
}

}  // namespace tensord::metrics

#endif  // TENSORD_TESTS_SERVER_METRICS_PAGE_TEXT_H_
