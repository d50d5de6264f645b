#ifndef TENSORD_TOOLS_TENSORDCTL_ERRORS_H_
#define TENSORD_TOOLS_TENSORDCTL_ERRORS_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tools/tensordctl/console.h"

namespace tensord::ctl {

// An error of the command line or of a file that it names, as opposed to one
// that the daemon answered: it is shown without a code, and the exit code is
// kUsage.
absl::Status LocalError(absl::string_view text);

// The same for a reader's error, with what was read in front: "x.npy: ...".
absl::Status LocalError(absl::string_view what, const absl::Status& status);

bool IsLocalError(const absl::Status& status);

// "NOT_FOUND: graph 3f... is not held [retry after 50 ms]": the code's name,
// the text, and what the details add to it, on one line without control
// characters.
std::string ErrorLine(const absl::Status& status);

// What NoBackendForOp tells beyond the line, in several lines each ended by a
// newline; empty for other errors.
std::string ErrorBlock(const absl::Status& status);

// Code, text and all details that are known here.
nlohmann::ordered_json JsonOfError(const absl::Status& status);

// Shows the error on console.err: a line and a block, or one line of JSON.
void PrintError(const Console& console, const absl::Status& status,
                bool as_json);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_ERRORS_H_
