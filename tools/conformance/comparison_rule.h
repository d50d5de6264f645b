#ifndef TENSORD_TOOLS_CONFORMANCE_COMPARISON_RULE_H_
#define TENSORD_TOOLS_CONFORMANCE_COMPARISON_RULE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace tensord::conformance {

// A floating-point number is right when
//   |got - expected| <= atol + rtol * |expected|.
struct Tolerance {
  long double rtol = 1e-3L;
  long double atol = 1e-7L;
};

// How the outputs of a case are compared. Always: their number, kinds, dtypes
// and shapes are equal; a NaN is right where one is expected and nowhere else;
// infinities, integers, booleans and strings are equal.
struct ComparisonRule {
  Tolerance tolerance;
  // Where the order of summation may differ: what passes only by this is told
  // apart, so that an error of a rounding is not lost in it.
  absl::optional<Tolerance> wider;
  // The values come from a generator.
  bool types_only = false;
  // The standard leaves room, and runtimes differ: other values are no failure,
  // but no pass either.
  bool is_disputed = false;
  // -infinity and the lowest finite number are equal.
  bool lowest_is_infinity = false;
  // An element of the output may be anything where the case's first input, at
  // the same place, is outside of the range of the output's dtype.
  bool out_of_range_is_undefined = false;
  // Integers may differ by so much.
  long double integer_levels = 0;
};

// The rule that a case list writes in its column "tolerance":
//
//   (nothing)                            the default
//   atol=1e-3 ..., rtol=2e-3 ...         these
//   fp16: rtol=1e-2 atol=1e-3 ..., bf16: these are `wider`
//   shape+dtype only ...                 types_only
//   disputed: ...                        is_disputed
//   take -inf and lowest finite float as equal
//   out-of-range values ... (undefined ...)
//   image codec: ...                     integer_levels = 3
//
// kInvalidArgument for any other text: a rule that is not understood must not
// become the default.
absl::StatusOr<ComparisonRule> ParseComparisonRule(absl::string_view text);

}  // namespace tensord::conformance

#endif  // TENSORD_TOOLS_CONFORMANCE_COMPARISON_RULE_H_
