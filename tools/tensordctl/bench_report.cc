#include "tools/tensordctl/bench_report.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/table.h"
#include "tools/tensordctl/units.h"

namespace tensord::ctl {
namespace {

using Json = nlohmann::ordered_json;

struct Quantile {
  const char* title;
  const char* key;
  double q;
};
constexpr Quantile kQuantiles[] = {{"P50", "p50", 0.5},
                                   {"P90", "p90", 0.9},
                                   {"P99", "p99", 0.99},
                                   {"P99.9", "p99_9", 0.999}};

double RateOf(const LoadCounts& counts, const LoadResult& result) {
  return static_cast<double>(counts.done_count) /
         absl::ToDoubleSeconds(result.measured);
}

void AddRow(const std::string& name, const LoadCounts& counts,
            const LoadResult& result, Table& table) {
  std::vector<std::string> cells = {
      name, absl::StrFormat("%.1f", RateOf(counts, result)),
      absl::StrCat(counts.latency.count()), absl::StrCat(counts.error_count())};
  const auto add = [&](double ns) {
    cells.push_back(counts.latency.count() == 0 ? "-" : FormatNs(ns));
  };
  add(counts.latency.mean_ns());
  for (const Quantile& quantile : kQuantiles) {
    add(static_cast<double>(counts.latency.QuantileNs(quantile.q)));
  }
  add(static_cast<double>(counts.latency.max_ns()));
  table.AddRow(std::move(cells),
               counts.error_count() == 0 ? Tone::kPlain : Tone::kBad);
}

Json JsonOfCounts(const LoadCounts& counts, const LoadResult& result) {
  Json latency = {{"count", counts.latency.count()},
                  {"min_ns", counts.latency.min_ns()},
                  {"mean_ns", counts.latency.mean_ns()}};
  for (const Quantile& quantile : kQuantiles) {
    latency[absl::StrCat(quantile.key, "_ns")] =
        counts.latency.QuantileNs(quantile.q);
  }
  latency["max_ns"] = counts.latency.max_ns();
  Json json = {{"rate", RateOf(counts, result)},
               {"latency", std::move(latency)},
               {"error_count", counts.error_count()},
               {"errors", Json::object()}};
  for (const auto& [code, count] : counts.errors) json["errors"][code] = count;
  return json;
}

}  // namespace

std::string LoadText(const LoadOptions& options) {
  return absl::StrCat(
      options.rate > 0 ? absl::StrCat(options.rate, " a second")
                       : absl::StrCat(options.concurrency, " at a time"),
      " for ", absl::FormatDuration(options.duration), ", after ",
      absl::FormatDuration(options.warm_up), " of warm-up",
      options.uses_streams ? ", by ExecuteStream" : "");
}

void PrintLoad(const Console& console, const std::vector<std::string>& names,
               const LoadResult& result) {
  std::vector<Column> columns = {{"GRAPH", Align::kLeft, true},
                                 {"RATE/S", Align::kRight},
                                 {"RUNS", Align::kRight},
                                 {"ERRORS", Align::kRight},
                                 {"MEAN", Align::kRight}};
  for (const Quantile& quantile : kQuantiles) {
    columns.push_back({quantile.title, Align::kRight});
  }
  columns.push_back({"MAX", Align::kRight});
  Table table(std::move(columns));
  for (size_t i = 0; i < names.size(); ++i) {
    AddRow(names[i], result.by_request[i], result, table);
  }
  if (names.size() > 1) AddRow("all", result.total, result, table);
  table.Print(console);
  for (const auto& [code, count] : result.total.errors) {
    console.out << "errors     " << count << " " << code << "\n";
  }
  if (!result.total.first_error.ok()) {
    console.out << "the first  " << ErrorLine(result.total.first_error) << "\n";
  }
  if (result.not_made_count > 0) {
    console.out << "not made   " << result.not_made_count
                << ": as many as --max-open were open\n";
  }
}

Json JsonOfLoad(const LoadOptions& options,
                const std::vector<std::string>& names,
                const LoadResult& result) {
  Json json = {{"loop", options.rate > 0 ? "open" : "closed"}};
  if (options.rate > 0) {
    json["offered_rate"] = options.rate;
  } else {
    json["concurrency"] = options.concurrency;
  }
  json["is_stream"] = options.uses_streams;
  json["warm_up_s"] = absl::ToDoubleSeconds(options.warm_up);
  json["duration_s"] = absl::ToDoubleSeconds(options.duration);
  json.update(JsonOfCounts(result.total, result));
  json["not_made_count"] = result.not_made_count;
  json["refused_without_delay_count"] = result.refused_without_delay_count;
  json["graphs"] = Json::array();
  for (size_t i = 0; i < names.size(); ++i) {
    Json graph = {{"graph", names[i]}};
    graph.update(JsonOfCounts(result.by_request[i], result));
    json["graphs"].push_back(std::move(graph));
  }
  return json;
}

std::string ProgressText(const LoadProgress& progress) {
  constexpr int kWidth = 20;
  const double share = absl::FDivDuration(progress.elapsed, progress.whole);
  const auto full = static_cast<size_t>(share < 1 ? share * kWidth : kWidth);
  return absl::StrFormat("%s of %s  [%s%s]  %d runs, %d errors, %d open",
                         FormatNs(absl::ToDoubleNanoseconds(progress.elapsed)),
                         FormatNs(absl::ToDoubleNanoseconds(progress.whole)),
                         std::string(full, '#'),
                         std::string(kWidth - full, '-'), progress.done_count,
                         progress.error_count, progress.open_count);
}

}  // namespace tensord::ctl
