#include "server/metrics/metric_names.h"

#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace tensord::metrics {
namespace {

TEST(MetricNames, EachIsUniqueAndSaysWhatItIs) {
  std::set<std::string> names;
  for (const MetricDef& def : kMetricDefs) {
    EXPECT_TRUE(names.insert(def.name).second) << def.name;
    EXPECT_TRUE(absl::StartsWith(def.name, "tensord_") ||
                absl::StartsWith(def.name, "process_"))
        << def.name;
    EXPECT_GT(std::string(def.help).size(), 10) << def.name;
    EXPECT_GT(std::string(def.why).size(), 10) << def.name;
  }
}

TEST(MetricNames, EachQueryReadsItsOwnMetric) {
  for (const MetricDef& def : kMetricDefs) {
    EXPECT_TRUE(absl::StrContains(def.query, def.name)) << def.name;
    // A counter's value itself says nothing: it began with the process.
    const bool has_range = absl::StrContains(def.query, "[");
    EXPECT_EQ(has_range, def.type != MetricType::kGauge ||
                             absl::StrContains(def.query, "changes("))
        << def.name;
    EXPECT_FALSE(absl::StrContains(def.query, "+ 1")) << def.name;
  }
}

// Prometheus' own convention, and what a label may be: a word.
TEST(MetricNames, LabelsAreWordsAndNoneTwice) {
  for (const MetricDef& def : kMetricDefs) {
    std::set<absl::string_view> labels;
    for (absl::string_view label :
         absl::StrSplit(def.labels, ',', absl::SkipEmpty())) {
      EXPECT_TRUE(labels.insert(label).second) << def.name << " " << label;
      EXPECT_EQ(label.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"),
                absl::string_view::npos)
          << def.name << " " << label;
    }
  }
}

TEST(MetricNames, EndInTheirUnitAndCountersInTotal) {
  for (const MetricDef& def : kMetricDefs) {
    const absl::string_view name = def.name;
    EXPECT_EQ(absl::EndsWith(name, "_total"), def.type == MetricType::kCounter)
        << name;
    const absl::string_view unit = def.unit;
    if (unit == "seconds" || unit == "bytes") {
      EXPECT_TRUE(absl::StrContains(name, unit)) << name;
    }
  }
}

TEST(MetricNames, HelpOfSampledHistogramsSaysThatTheirCountIsSamples) {
  for (MetricId id : {MetricId::kOpHostDuration, MetricId::kOpDeviceDuration}) {
    EXPECT_TRUE(
        absl::StrContains(Def(id).help, "_count is samples, not launches"));
  }
  EXPECT_TRUE(absl::StrContains(Def(MetricId::kOpHostDuration).help,
                                "this is the enqueue, not the work"));
}

}  // namespace
}  // namespace tensord::metrics
