#ifndef TENSORD_SERVER_CONFIG_OPTION_VALUES_H_
#define TENSORD_SERVER_CONFIG_OPTION_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tensord {

// The texts of options and their values, both ways: what Format gives, Parse
// reads back as the same value.
//
// Threading and ownership: pure functions.
// Errors: kInvalidArgument that repeats the text and says what would be right,
//   without the option's name, which the caller knows.

absl::StatusOr<bool> ParseBool(absl::string_view text);
std::string FormatBool(bool value);

// A whole number in [min, max].
absl::StatusOr<int64_t> ParseNumber(absl::string_view text, int64_t min,
                                    int64_t max);

// The same with an optional KiB, MiB, GiB or TiB behind it.
absl::StatusOr<int64_t> ParseBytes(absl::string_view text, int64_t min,
                                   int64_t max);
// With the largest unit that divides it.
std::string FormatBytes(int64_t bytes);

// "30s", "1m30s", "250ms", "50us"; not negative, and finite.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text);

// Parts between commas, without the spaces around them; none for no text.
std::vector<std::string> ParseList(absl::string_view text);

}  // namespace tensord

#endif  // TENSORD_SERVER_CONFIG_OPTION_VALUES_H_
