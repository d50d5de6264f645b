#ifndef TENSORD_TOOLS_CONFORMANCE_CASE_STORE_H_
#define TENSORD_TOOLS_CONFORMANCE_CASE_STORE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/conformance/case_list.h"
#include "tools/conformance/tar_archive.h"

namespace tensord::conformance {

// The files of the cases: those below a folder, or in its FOLDER.tar.zst. The
// archives are read into memory, which takes a tenth of a second, where making
// their thousands of small files may take a minute.
//
// Threading: immutable once open.
class CaseStore {
 public:
  // Reads the archives of those folders of the cases that `root` does not have
  // as folders; the program zstd unpacks them. kInvalidArgument for a folder
  // that is there in neither form, or an archive that is broken.
  static absl::StatusOr<CaseStore> Open(const std::string& root,
                                        const std::vector<Case>& cases);

  // A file of a case, by its path in the case's folder. kNotFound when it is
  // not there; errors start with the path.
  absl::StatusOr<std::string> ReadFile(const Case& of,
                                       absl::string_view path) const;

 private:
  struct Archive {
    std::string bytes;
    TarFiles files;
  };

  explicit CaseStore(std::string root) : root_(std::move(root)) {}

  absl::Status ReadArchive(const std::string& folder);

  std::string root_;
  // By folder; the pointer keeps the bytes where `files` point to.
  absl::flat_hash_map<std::string, std::unique_ptr<Archive>> archives_;
};

}  // namespace tensord::conformance

#endif  // TENSORD_TOOLS_CONFORMANCE_CASE_STORE_H_
