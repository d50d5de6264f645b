#include "tools/tensordctl/compare.h"

#include <cmath>
#include <limits>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "tools/tensordctl/elements.h"
#include "tools/tensordctl/type_text.h"

namespace tensord::ctl {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double AbsoluteDifference(double expected, double actual) {
  if (std::isnan(expected) && std::isnan(actual)) return 0;
  if (expected == actual) return 0;
  const double difference = std::abs(actual - expected);
  return std::isnan(difference) ? kInfinity : difference;
}

}  // namespace

Difference Compare(const v1::Tensor& expected, const v1::Tensor& actual,
                   const Tolerance& tolerance) {
  Difference result;
  if (expected.dtype() != actual.dtype() ||
      !absl::c_equal(expected.dims(), actual.dims())) {
    result.mismatch = absl::StrCat("expected ", TypeText(expected), ", got ",
                                   TypeText(actual));
    return result;
  }
  const auto expected_values = AsDoubles(expected);
  const auto actual_values = AsDoubles(actual);
  if (!expected_values.ok() || !actual_values.ok()) {
    if (expected.data() != actual.data()) result.mismatch = "the bytes differ";
    return result;
  }
  if (expected_values->size() != actual_values->size()) {
    result.mismatch = absl::StrCat("expected ", expected_values->size(),
                                   " elements, got ", actual_values->size());
    return result;
  }
  result.element_count = static_cast<int64_t>(expected_values->size());
  double worst_excess = 0;
  for (size_t i = 0; i < expected_values->size(); ++i) {
    const double e = (*expected_values)[i];
    const double a = (*actual_values)[i];
    const double difference = AbsoluteDifference(e, a);
    result.max_abs = std::max(result.max_abs, difference);
    // rtol times an infinity would allow anything.
    const double allowed =
        std::isfinite(e) ? tolerance.atol + tolerance.rtol * std::abs(e) : 0;
    if (difference <= allowed) continue;
    ++result.outside_count;
    if (result.outside_count == 1 || difference - allowed > worst_excess) {
      worst_excess = difference - allowed;
      result.worst_index = static_cast<int64_t>(i);
      result.worst_expected = e;
      result.worst_actual = a;
    }
  }
  return result;
}

}  // namespace tensord::ctl
