#ifndef TENSORD_TESTS_TOOLS_CONFORMANCE_MOODS_H_
#define TENSORD_TESTS_TOOLS_CONFORMANCE_MOODS_H_

namespace tensord::conformance {

// What moody_daemon does when the first element of the first input is this;
// otherwise each output is the input of its place.
inline constexpr float kDies = 13;
inline constexpr float kHangs = 14;
inline constexpr float kAnswersWrong = 15;
inline constexpr float kDiesOnce = 16;

}  // namespace tensord::conformance

#endif  // TENSORD_TESTS_TOOLS_CONFORMANCE_MOODS_H_
