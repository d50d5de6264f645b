#ifndef TENSORD_TOOLS_TENSORDCTL_ARGUMENTS_H_
#define TENSORD_TOOLS_TENSORDCTL_ARGUMENTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tensord::ctl {

// A time above zero as options give it: "5" seconds, "500ms", "2m", "inf".
// LocalError() with the option's name.
absl::StatusOr<absl::Duration> ParseTime(absl::string_view option,
                                         const std::string& text);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_ARGUMENTS_H_
