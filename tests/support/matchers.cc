#include "tests/support/matchers.h"

#include <cmath>
#include <utility>

namespace tensord {
namespace {

bool IsWithin(double actual, double expected, Tolerance tolerance) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return actual == expected;
  return std::fabs(actual - expected) <=
         tolerance.absolute + tolerance.relative * std::fabs(expected);
}

MATCHER_P2(IsNearTensor, expected, tolerance,
           "is " + ::testing::PrintToString(expected) + " within " +
               std::to_string(tolerance.absolute) + " + " +
               std::to_string(tolerance.relative) + " of each value") {
  if (arg.dtype != expected.dtype || arg.shape != expected.shape) {
    *result_listener << "which has another dtype or shape";
    return false;
  }
  int64_t wrong_count = 0;
  for (int64_t i = 0; i < expected.shape.element_count(); ++i) {
    if (IsWithin(arg.At(i), expected.At(i), tolerance)) continue;
    if (wrong_count++ == 0) {
      *result_listener << "whose element " << i << " is " << arg.At(i)
                       << " instead of " << expected.At(i);
    }
  }
  if (wrong_count > 1) {
    *result_listener << ", and " << wrong_count - 1 << " more";
  }
  return wrong_count == 0;
}

MATCHER_P2(IsNearValues, expected, absolute,
           "has the values " + ::testing::PrintToString(expected)) {
  if (arg.shape.element_count() != static_cast<int64_t>(expected.size())) {
    *result_listener << "which has " << arg.shape.element_count() << " values";
    return false;
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!IsWithin(arg.At(i), expected[i], Tolerance{0, absolute})) {
      *result_listener << "whose value " << i << " is " << arg.At(i);
      return false;
    }
  }
  return true;
}

}  // namespace

::testing::Matcher<const TestTensor&> IsNear(TestTensor expected,
                                             Tolerance tolerance) {
  return IsNearTensor(std::move(expected), tolerance);
}

::testing::Matcher<const TestTensor&> Near(std::vector<double> expected,
                                           double absolute) {
  return IsNearValues(std::move(expected), absolute);
}

}  // namespace tensord
