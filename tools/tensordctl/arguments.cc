#include "tools/tensordctl/arguments.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/tensordctl/errors.h"

namespace tensord::ctl {

absl::StatusOr<absl::Duration> ParseTime(absl::string_view option,
                                         const std::string& text) {
  absl::Duration time;
  double seconds = 0;
  if (absl::SimpleAtod(text, &seconds)) {
    time = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(text, &time)) {
    time = absl::ZeroDuration();
  }
  if (time <= absl::ZeroDuration()) {
    return LocalError(
        absl::StrCat(option, " ", text,
                     ": not a time above zero, such as 5, 500ms, 2m or inf"));
  }
  return time;
}

}  // namespace tensord::ctl
