#ifndef TENSORD_TOOLS_CONFORMANCE_RESULT_H_
#define TENSORD_TOOLS_CONFORMANCE_RESULT_H_

#include <string>

#include "absl/time/time.h"

namespace tensord::conformance {

// What became of a case. All but the first and the last are failures.
enum class Outcome {
  kPassed,
  // An honest status: what the case needs is not there, or is held for wrong.
  kRefused,
  // The answer differs from what is expected.
  kWrong,
  // The daemon died.
  kCrash,
  // No answer within the deadline.
  kHang,
  // Another status (INTERNAL, ...), or files of the case that cannot be read.
  kError,
  // Could not be tried, or decides nothing.
  kSkipped,
};
inline constexpr int kOutcomeCount = 7;

struct Result {
  Outcome outcome = Outcome::kPassed;
  // Why it did not pass.
  std::string reason;
  // What is worth knowing of one that passed.
  std::string note;
  absl::Duration duration;
};

inline bool IsFailure(Outcome outcome) {
  return outcome != Outcome::kPassed && outcome != Outcome::kSkipped;
}

// "passed", "refused", ...
inline const char* OutcomeName(Outcome outcome) {
  static constexpr const char* kNames[kOutcomeCount] = {
      "passed", "refused", "wrong", "crash", "hang", "error", "skipped"};
  return kNames[static_cast<int>(outcome)];
}

}  // namespace tensord::conformance

#endif  // TENSORD_TOOLS_CONFORMANCE_RESULT_H_
