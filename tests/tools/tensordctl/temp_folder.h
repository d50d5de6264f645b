#ifndef TENSORD_TESTS_TOOLS_TENSORDCTL_TEMP_FOLDER_H_
#define TENSORD_TESTS_TOOLS_TENSORDCTL_TEMP_FOLDER_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/strings/string_view.h"
#include "tools/tensordctl/files.h"

namespace tensord::ctl {

// A folder that goes with this object.
class TempFolder {
 public:
  TempFolder() {
    std::string name = ::testing::TempDir() + "/tensordctl_XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string PathOf(const std::string& name) const {
    return path_ + "/" + name;
  }
  // Makes a file, and the folders that its name has; returns its path.
  std::string Add(const std::string& name, absl::string_view bytes) const {
    const std::string path = PathOf(name);
    std::filesystem::create_directories(
        std::filesystem::path(path).parent_path());
    EXPECT_TRUE(WriteFile(path, bytes).ok());
    return path;
  }

 private:
  std::string path_;
};

}  // namespace tensord::ctl

#endif  // TENSORD_TESTS_TOOLS_TENSORDCTL_TEMP_FOLDER_H_
