#ifndef TENSORD_TOOLS_CONFORMANCE_SCRATCH_FOLDER_H_
#define TENSORD_TOOLS_CONFORMANCE_SCRATCH_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace tensord::conformance {

// A folder among the system's temporary files that goes, with all that is in
// it, with this object.
class ScratchFolder {
 public:
  static absl::StatusOr<ScratchFolder> Make() {
    std::error_code error;
    const auto parent = std::filesystem::temp_directory_path(error);
    std::string path = (parent / "tensord_conformance_XXXXXX").string();
    if (error || mkdtemp(path.data()) == nullptr) {
      return absl::UnavailableError(
          absl::StrCat("cannot make the folder ", path));
    }
    return ScratchFolder(std::move(path));
  }

  ScratchFolder(ScratchFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace tensord::conformance

#endif  // TENSORD_TOOLS_CONFORMANCE_SCRATCH_FOLDER_H_
