#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace tensord {
namespace {

std::string Read(const std::string& path) {
  const char* root = std::getenv("TENSORD_SOURCE_DIR");
  EXPECT_NE(root, nullptr) << "TENSORD_SOURCE_DIR is set by ctest";
  std::ifstream file(std::string(root == nullptr ? "." : root) + "/" + path);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(ClientReadme, ShowsTheExampleThatIsCompiled) {
  const std::string block =
      "```cpp\n" + Read("clients/cpp/example.cc") + "```\n";
  EXPECT_NE(Read("clients/cpp/README.md").find(block), std::string::npos)
      << "clients/cpp/README.md and clients/cpp/example.cc differ";
}

}  // namespace
}  // namespace tensord
