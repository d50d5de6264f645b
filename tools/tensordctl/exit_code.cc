#include "tools/tensordctl/exit_code.h"

#include "clients/cpp/error_details.h"

namespace tensord::ctl {

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
      return ExitCode::kRefused;
    case absl::StatusCode::kResourceExhausted:
      // A full queue empties; a graph above a limit stays above it.
      return RetryDelay(status) ? ExitCode::kUnavailable : ExitCode::kRefused;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kCancelled:
      return ExitCode::kUnavailable;
    default:
      return ExitCode::kInternal;
  }
}

}  // namespace tensord::ctl
