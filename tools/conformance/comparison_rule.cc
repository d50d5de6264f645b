#include "tools/conformance/comparison_rule.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tensord::conformance {
namespace {

// What a decoder may round otherwise in a lossy picture.
constexpr long double kCodecLevels = 3;

// Reads every word "rtol=X" and "atol=X". The other words explain. False when
// there is none, or one that is no number of 0 to 1.
bool ReadTolerance(absl::string_view text, Tolerance& tolerance) {
  bool has_one = false;
  for (absl::string_view word : absl::StrSplit(text, ' ')) {
    const bool is_rtol = absl::ConsumePrefix(&word, "rtol=");
    if (!is_rtol && !absl::ConsumePrefix(&word, "atol=")) continue;
    double value = 0;
    // Text such as "nan" fails both comparisons.
    if (!absl::SimpleAtod(word, &value) || !(value >= 0 && value <= 1)) {
      return false;
    }
    (is_rtol ? tolerance.rtol : tolerance.atol) = value;
    has_one = true;
  }
  return has_one;
}

}  // namespace

absl::StatusOr<ComparisonRule> ParseComparisonRule(absl::string_view text) {
  ComparisonRule rule;
  const absl::string_view all = text;
  if (text.empty()) return rule;
  if (absl::StartsWith(text, "shape+dtype only")) {
    rule.types_only = true;
    return rule;
  }
  if (absl::StartsWith(text, "disputed:")) {
    rule.is_disputed = true;
    return rule;
  }
  if (text == "take -inf and lowest finite float as equal") {
    rule.lowest_is_infinity = true;
    return rule;
  }
  if (absl::StartsWith(text, "out-of-range values") &&
      absl::StrContains(text, "undefined")) {
    rule.out_of_range_is_undefined = true;
    return rule;
  }
  if (absl::StartsWith(text, "image codec:")) {
    rule.integer_levels = kCodecLevels;
    return rule;
  }
  if (absl::ConsumePrefix(&text, "fp16:") ||
      absl::ConsumePrefix(&text, "bf16:")) {
    rule.wider.emplace();
    if (ReadTolerance(text, *rule.wider)) return rule;
  } else if ((absl::StartsWith(text, "rtol=") ||
              absl::StartsWith(text, "atol=")) &&
             ReadTolerance(text, rule.tolerance)) {
    return rule;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("tolerance \"", all, "\" is not understood"));
}

}  // namespace tensord::conformance
