#ifndef TENSORD_TOOLS_CONFORMANCE_REPORT_H_
#define TENSORD_TOOLS_CONFORMANCE_REPORT_H_

#include <array>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "tools/conformance/case_list.h"
#include "tools/conformance/result.h"
#include "tools/tensordctl/console.h"

namespace tensord::conformance {

// How many cases came to each outcome.
class Counts {
 public:
  explicit Counts(const std::vector<Result>& results);

  int of(Outcome outcome) const {
    return counts_[static_cast<size_t>(outcome)];
  }
  int failed() const;

 private:
  std::array<int, kOutcomeCount> counts_ = {};
};

// A line for each case that did not pass (of those outcomes), and for each that
// passed with a note.
void PrintCases(const ctl::Console& console, const std::vector<Case>& cases,
                const std::vector<Result>& results,
                const absl::flat_hash_set<std::string>& shown_outcomes);

// A row for each tier, a column for each outcome.
void PrintTable(const ctl::Console& console, const std::vector<Case>& cases,
                const std::vector<Result>& results);

// "N passed, N failed, N skipped".
void PrintTotals(const ctl::Console& console, const Counts& counts);

// One JSON object a line for each case.
std::string ReportText(const std::vector<Case>& cases,
                       const std::vector<Result>& results);

}  // namespace tensord::conformance

#endif  // TENSORD_TOOLS_CONFORMANCE_REPORT_H_
