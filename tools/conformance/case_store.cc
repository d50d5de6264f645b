#include "tools/conformance/case_store.h"

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/conformance/child_process.h"
#include "tools/conformance/scratch_folder.h"
#include "tools/tensordctl/files.h"

namespace tensord::conformance {

absl::StatusOr<CaseStore> CaseStore::Open(const std::string& root,
                                          const std::vector<Case>& cases) {
  CaseStore store(root);
  std::set<std::string> folders;
  for (const Case& one : cases) folders.insert(one.folder);
  for (const std::string& folder : folders) {
    std::error_code error;
    if (std::filesystem::is_directory(absl::StrCat(root, "/", folder), error)) {
      continue;
    }
    const absl::Status status = store.ReadArchive(folder);
    if (!status.ok()) return status;
  }
  return store;
}

absl::StatusOr<std::string> CaseStore::ReadFile(const Case& of,
                                                absl::string_view path) const {
  const std::string in_root = absl::StrCat(of.Id(), "/", path);
  const auto archive = archives_.find(of.folder);
  if (archive == archives_.end()) {
    return ctl::ReadFile(absl::StrCat(root_, "/", in_root));
  }
  const TarFiles& files = archive->second->files;
  const auto file = files.find(in_root);
  if (file != files.end()) return std::string(file->second);
  return absl::NotFoundError(
      absl::StrCat(in_root, ": not in ", of.folder, ".tar.zst"));
}

absl::Status CaseStore::ReadArchive(const std::string& folder) {
  const std::string packed = absl::StrCat(root_, "/", folder, ".tar.zst");
  if (!ctl::IsFile(packed)) {
    return absl::InvalidArgumentError(absl::StrCat(
        root_, ": neither ", folder, "/ nor ", folder, ".tar.zst is there"));
  }
  const auto scratch = ScratchFolder::Make();
  if (!scratch.ok()) return scratch.status();
  const std::string unpacked = scratch->path() + "/cases.tar";
  auto zstd = ChildProcess::Start({"zstd", "-d", "-q", packed, "-o", unpacked});
  if (!zstd.ok()) return zstd.status();
  const std::string ending = zstd->Wait();
  if (ending != "exit code 0") {
    return absl::InvalidArgumentError(
        absl::StrCat("zstd cannot unpack ", packed, ": ", ending));
  }
  auto bytes = ctl::ReadFile(unpacked);
  if (!bytes.ok()) return bytes.status();
  auto archive = std::make_unique<Archive>();
  archive->bytes = *std::move(bytes);
  auto files = ReadTar(archive->bytes);
  if (!files.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(packed, ": ", files.status().message()));
  }
  archive->files = *std::move(files);
  archives_[folder] = std::move(archive);
  return absl::OkStatus();
}

}  // namespace tensord::conformance
