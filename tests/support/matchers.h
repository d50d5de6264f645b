#ifndef TENSORD_TESTS_SUPPORT_MATCHERS_H_
#define TENSORD_TESTS_SUPPORT_MATCHERS_H_

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/support/tensor.h"
#include "tests/support/tolerances.h"

namespace tensord {

// Matches a TestTensor of the same dtype and shape whose elements are all
// within the tolerance. NaN matches NaN, an infinity itself.
::testing::Matcher<const TestTensor&> IsNear(TestTensor expected,
                                             Tolerance tolerance);

// The same, by values alone: Near({0.2689, 0.7311}, 1e-4).
::testing::Matcher<const TestTensor&> Near(std::vector<double> expected,
                                           double absolute);

// Statuses: StatusIs(absl::StatusCode::kInternal, HasSubstr("12 bytes")), for a
// Status or a StatusOr.
inline const absl::Status& StatusOf(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

MATCHER_P2(StatusIs, code, message,
           "is " + absl::StatusCodeToString(code) + " with a message that " +
               ::testing::DescribeMatcher<std::string>(message)) {
  const absl::Status& status = StatusOf(arg);
  *result_listener << "which is " << status.ToString();
  return status.code() == code &&
         ::testing::Matches(message)(std::string(status.message()));
}

MATCHER(IsOk, "is OK") {
  *result_listener << "which is " << StatusOf(arg).ToString();
  return StatusOf(arg).ok();
}

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_MATCHERS_H_
