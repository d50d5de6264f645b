#include "tools/conformance/tar_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "absl/strings/str_format.h"

namespace tensord::conformance {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// An entry as tar writes it, padded to whole blocks.
std::string Entry(const std::string& name, const std::string& bytes,
                  char kind = '0', const std::string& prefix = "") {
  std::string entry(512, '\0');
  entry.replace(0, name.size(), name);
  entry.replace(124, 12, absl::StrFormat("%011o", bytes.size()) + '\0');
  entry.replace(148, 8, "        ");
  entry[156] = kind;
  entry.replace(257, 8,
                std::string("ustar\0"
                            "00",
                            8));
  entry.replace(345, prefix.size(), prefix);
  unsigned sum = 0;
  for (const unsigned char c : entry) sum += c;
  entry.replace(148, 8, absl::StrFormat("%06o", sum) + std::string("\0 ", 2));
  entry += bytes;
  entry.resize((entry.size() + 511) / 512 * 512);
  return entry;
}

const std::string& End() {
  static const auto& end = *new std::string(1024, '\0');
  return end;
}

std::string ErrorOf(const std::string& bytes) {
  return std::string(ReadTar(bytes).status().message());
}

TEST(TarArchiveTest, FilesAreFoundByTheirPaths) {
  const std::string block(512, 'x');
  const std::string more(513, 'y');
  const std::string bytes = Entry("a/b", "one") + Entry("a/", "", '5') +
                            Entry("empty", "") + Entry("c", block) +
                            Entry("d", more, '0', "long/er") + End();
  const auto files = ReadTar(bytes);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(*files,
              UnorderedElementsAre(Pair("a/b", "one"), Pair("empty", ""),
                                   Pair("c", absl::string_view(block)),
                                   Pair("long/er/d", absl::string_view(more))));
}

TEST(TarArchiveTest, AnEmptyArchiveHasNoFiles) {
  EXPECT_THAT(*ReadTar(End()), IsEmpty());
}

TEST(TarArchiveTest, BrokenArchivesAreRefused) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("no end at byte 0"));
  EXPECT_THAT(ErrorOf(Entry("a", "one")), HasSubstr("no end at byte 1024"));
  EXPECT_THAT(ErrorOf(Entry("a", std::string(600, 'x')).substr(0, 1100)),
              HasSubstr("cut off at byte 0"));
  EXPECT_THAT(ErrorOf(Entry("link", "", '2') + End()),
              HasSubstr("kind '2' at byte 0"));
  EXPECT_THAT(ErrorOf(std::string(1024, 'x')), HasSubstr("no magic"));
  std::string changed = Entry("a", "one") + End();
  changed[0] = 'b';
  EXPECT_THAT(ErrorOf(changed), HasSubstr("check sum"));
  std::string huge = Entry("a", "one");
  huge[124] = '7';
  EXPECT_FALSE(ReadTar(huge + End()).ok());
}

}  // namespace
}  // namespace tensord::conformance
