#include "server/metrics/page.h"

#include <limits>
#include <utility>

#include "absl/strings/str_split.h"

namespace tensord::metrics {
namespace {

prometheus::MetricType TypeOf(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return prometheus::MetricType::Counter;
    case MetricType::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricType::kHistogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

// `upper_bound(i)` for every bucket but the last, whose bound is infinite.
template <typename UpperBound>
prometheus::ClientMetric::Histogram Cumulate(absl::Span<const uint64_t> counts,
                                             double sum,
                                             UpperBound upper_bound) {
  prometheus::ClientMetric::Histogram histogram;
  histogram.sample_sum = sum;
  histogram.bucket.reserve(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    histogram.sample_count += counts[i];
    histogram.bucket.push_back({histogram.sample_count,
                                i + 1 < counts.size()
                                    ? upper_bound(i)
                                    : std::numeric_limits<double>::infinity()});
  }
  return histogram;
}

// What identifies a row: the metric's name and the label values.
std::string KeyOf(MetricId id, Page::Labels labels) {
  std::string key = Def(id).name;
  for (absl::string_view label : labels) {
    key.push_back('\0');
    key.append(label.data(), label.size());
  }
  return key;
}

}  // namespace

Page::Page(SeriesBudget& budget) : budget_(budget), families_(kMetricCount) {
  for (size_t i = 0; i < kMetricCount; ++i) {
    families_[i].name = kMetricDefs[i].name;
    families_[i].help = kMetricDefs[i].help;
    families_[i].type = TypeOf(kMetricDefs[i].type);
  }
}

prometheus::ClientMetric* Page::NewRow(MetricId id, Labels labels,
                                       SeriesBudget* budget) {
  if (budget == nullptr) budget = &budget_;
  const MetricDef& def = Def(id);
  const size_t series =
      def.type == MetricType::kHistogram ? kHistogramSeries : 1;
  if (!budget->Admit(KeyOf(id, labels), series)) return nullptr;
  prometheus::ClientMetric& metric = family(id).metric.emplace_back();
  if (labels.size() == 0) return &metric;
  auto value = labels.begin();
  for (absl::string_view name : absl::StrSplit(def.labels, ',')) {
    if (value == labels.end()) break;
    metric.label.push_back({std::string(name), std::string(*value++)});
  }
  return &metric;
}

bool Page::Add(MetricId id, Labels labels, double value, SeriesBudget* budget) {
  prometheus::ClientMetric* metric = NewRow(id, labels, budget);
  if (metric == nullptr) return false;
  if (Def(id).type == MetricType::kCounter) {
    metric->counter.value = value;
  } else {
    metric->gauge.value = value;
  }
  return true;
}

bool Page::Add(MetricId id, Labels labels,
               const op_profile::DurationHistogram& durations,
               SeriesBudget* budget) {
  prometheus::ClientMetric* metric = NewRow(id, labels, budget);
  if (metric == nullptr) return false;
  metric->histogram = Cumulate(
      durations.counts, static_cast<double>(durations.sum_ns) / 1e9,
      [](size_t i) {
        return static_cast<double>(op_profile::kDurationEdgesNs[i]) / 1e9;
      });
  return true;
}

bool Page::Add(MetricId id, Labels labels,
               const std::array<uint64_t, ByteBuckets::kBucketCount>& counts,
               uint64_t sum_bytes) {
  prometheus::ClientMetric* metric = NewRow(id, labels, nullptr);
  if (metric == nullptr) return false;
  metric->histogram = Cumulate(
      counts, static_cast<double>(sum_bytes),
      [](size_t i) { return static_cast<double>(ByteBuckets::Edge(i)); });
  return true;
}

std::vector<prometheus::MetricFamily> Page::Finish() && {
  std::vector<prometheus::MetricFamily> used;
  for (prometheus::MetricFamily& family : families_) {
    if (!family.metric.empty()) used.push_back(std::move(family));
  }
  return used;
}

}  // namespace tensord::metrics
