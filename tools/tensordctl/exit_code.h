#ifndef TENSORD_TOOLS_TENSORDCTL_EXIT_CODE_H_
#define TENSORD_TOOLS_TENSORDCTL_EXIT_CODE_H_

#include "absl/status/status.h"

namespace tensord::ctl {

// What a script can tell from the exit status. The numbers never change.
enum class ExitCode {
  kOk = 0,
  // The command line, or a file that it names, is wrong. Nothing was sent, or
  // nothing that mattered.
  kUsage = 1,
  // The daemon refuses: the same call will be refused again.
  kRefused = 2,
  // Nobody answered in time, or the daemon is full or draining: the same call
  // may succeed later.
  kUnavailable = 3,
  // A bug or a device fault on the other side.
  kInternal = 4,
  // The answer came, and is not what --expect expects.
  kDiffers = 5,
};

// The exit code for a call's error; kOk for OK.
ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_EXIT_CODE_H_
