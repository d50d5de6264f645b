#ifndef TENSORD_TOOLS_CONFORMANCE_TAR_ARCHIVE_H_
#define TENSORD_TOOLS_CONFORMANCE_TAR_ARCHIVE_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tensord::conformance {

// Path in the archive to the file's bytes, which lie in the archive's.
using TarFiles = absl::flat_hash_map<std::string, absl::string_view>;

// The regular files of a tar archive in POSIX's ustar format, which is what tar
// writes for names of up to 255 bytes; folders are left out. kInvalidArgument,
// with the offset, for what is no such archive, is cut off, has a wrong check
// sum, or has entries of another kind (links, extended headers).
//
// Ownership: the result borrows `bytes`.
absl::StatusOr<TarFiles> ReadTar(absl::string_view bytes);

}  // namespace tensord::conformance

#endif  // TENSORD_TOOLS_CONFORMANCE_TAR_ARCHIVE_H_
