#include "tools/conformance/report.h"

#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "tools/tensordctl/table.h"

namespace tensord::conformance {

Counts::Counts(const std::vector<Result>& results) {
  for (const Result& result : results) {
    ++counts_[static_cast<size_t>(result.outcome)];
  }
}

int Counts::failed() const {
  int failed = 0;
  for (int i = 0; i < kOutcomeCount; ++i) {
    if (IsFailure(static_cast<Outcome>(i))) failed += counts_[i];
  }
  return failed;
}

void PrintCases(const ctl::Console& console, const std::vector<Case>& cases,
                const std::vector<Result>& results,
                const absl::flat_hash_set<std::string>& shown_outcomes) {
  for (size_t i = 0; i < cases.size(); ++i) {
    const Result& result = results[i];
    const std::string outcome = OutcomeName(result.outcome);
    const std::string& text =
        result.outcome == Outcome::kPassed ? result.note : result.reason;
    if (text.empty() ||
        (!shown_outcomes.empty() && !shown_outcomes.contains(outcome))) {
      continue;
    }
    console.out << outcome << "  " << cases[i].Id() << " (" << cases[i].op
                << "): " << ctl::Printable(text) << "\n";
  }
}

void PrintTable(const ctl::Console& console, const std::vector<Case>& cases,
                const std::vector<Result>& results) {
  std::map<int, std::vector<Result>> by_tier;
  for (size_t i = 0; i < cases.size(); ++i) {
    by_tier[cases[i].tier].push_back(results[i]);
  }
  std::vector<ctl::Column> columns = {{.title = "TIER"},
                                      {"CASES", ctl::Align::kRight}};
  for (const char* title :
       {"PASSED", "REFUSED", "WRONG", "CRASH", "HANG", "ERROR", "SKIPPED"}) {
    columns.push_back({title, ctl::Align::kRight});
  }
  ctl::Table table(std::move(columns));
  const auto add_row = [&](const std::string& title,
                           const std::vector<Result>& of_row) {
    const Counts counts(of_row);
    std::vector<std::string> cells = {title, absl::StrCat(of_row.size())};
    for (int i = 0; i < kOutcomeCount; ++i) {
      cells.push_back(absl::StrCat(counts.of(static_cast<Outcome>(i))));
    }
    table.AddRow(std::move(cells));
  };
  for (const auto& [tier, of_tier] : by_tier) {
    add_row(tier == 0 ? "none" : absl::StrCat(tier), of_tier);
  }
  add_row("all", results);
  table.Print(console);
}

void PrintTotals(const ctl::Console& console, const Counts& counts) {
  console.out << counts.of(Outcome::kPassed) << " passed, " << counts.failed()
              << " failed, " << counts.of(Outcome::kSkipped) << " skipped\n";
}

std::string ReportText(const std::vector<Case>& cases,
                       const std::vector<Result>& results) {
  std::string text;
  for (size_t i = 0; i < cases.size(); ++i) {
    nlohmann::ordered_json line = {
        {"case", cases[i].name},
        {"folder", cases[i].folder},
        {"op", cases[i].op},
        {"opset", cases[i].opset},
        {"tier", cases[i].tier},
        {"flags", cases[i].flags},
        {"outcome", OutcomeName(results[i].outcome)},
        {"reason", results[i].reason},
        {"note", results[i].note},
        {"seconds", absl::ToDoubleSeconds(results[i].duration)}};
    // A reason may quote bytes of a model that are no UTF-8.
    absl::StrAppend(
        &text,
        line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
        "\n");
  }
  return text;
}

}  // namespace tensord::conformance
