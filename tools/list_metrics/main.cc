// Prints every metric of the daemon as one list of JSON, for
// scripts/metrics_doc.py and for whoever checks queries against it: name, type,
// unit, labels, help, why, query.

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "server/metrics/metric_names.h"

namespace tensord::metrics {
namespace {

const char* TypeName(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return "counter";
    case MetricType::kGauge:
      return "gauge";
    case MetricType::kHistogram:
      return "histogram";
  }
  return "";
}

nlohmann::ordered_json JsonOf(const MetricDef& def) {
  const std::vector<std::string> labels =
      absl::StrSplit(def.labels, ',', absl::SkipEmpty());
  return {{"name", def.name},  {"type", TypeName(def.type)}, {"unit", def.unit},
          {"labels", labels},  {"help", def.help},           {"why", def.why},
          {"query", def.query}};
}

}  // namespace
}  // namespace tensord::metrics

int main() {
  auto list = nlohmann::ordered_json::array();
  for (const auto& def : tensord::metrics::kMetricDefs) {
    list.push_back(tensord::metrics::JsonOf(def));
  }
  std::cout << list.dump(2) << "\n";
}
