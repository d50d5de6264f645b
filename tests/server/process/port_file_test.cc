#include "server/process/port_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace tensord {
namespace {

TEST(PortFile, IsWrittenWholeAndReplacesAnOldOne) {
  const std::string path = ::testing::TempDir() + "ports.json";
  std::ofstream(path) << "old";
  ASSERT_TRUE(WritePortFile(path, {"127.0.0.1:1", "unix:/x"}, "").ok());
  const auto json = nlohmann::json::parse(std::ifstream(path));
  EXPECT_EQ(json["grpc"][0], "127.0.0.1:1");
  EXPECT_EQ(json["grpc"][1], "unix:/x");
  EXPECT_EQ(json["metrics"], "");
  std::remove(path.c_str());
}

TEST(PortFile, AFolderThatIsNotThereIsAnErrorThatNamesTheOption) {
  const absl::Status status = WritePortFile("/does/not/exist/ports", {}, "");
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("--port-file"));
}

}  // namespace
}  // namespace tensord
