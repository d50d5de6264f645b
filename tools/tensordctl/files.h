#ifndef TENSORD_TOOLS_TENSORDCTL_FILES_H_
#define TENSORD_TOOLS_TENSORDCTL_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tensord::ctl {

// A file's bytes. Errors start with the path: kNotFound, or kInvalidArgument
// for what is no regular file or cannot be read.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Makes or replaces a file. kInvalidArgument with the path and the reason.
absl::Status WriteFile(const std::string& path, absl::string_view bytes);

bool IsFile(const std::string& path);

// A value's name as a file's: what is not a letter, a digit, '.', '_' or '-'
// becomes '_', and so does a leading '.', so that a graph cannot name a file
// outside of the folder.
std::string FileNameFor(absl::string_view value_name);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_FILES_H_
