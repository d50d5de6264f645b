#include "engine/tune/tuning_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <random>

#include "absl/strings/str_cat.h"
#include "engine/tune/site_key.h"
#include "tests/engine/tune/tuning_harness.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const TuningOwner kOwner{"build-1", "fake \"device\"\n/../x"};

TuningEntry Entry(const std::string& seed, size_t chosen) {
  auto site = std::make_shared<MeasuredSite>();
  site->siblings = {{"conv_f32_1x1", 1234.5, true},
                    {"conv_f32_wrong", 0, false},
                    {"conv_f32", 999.5, true}};
  site->chosen = chosen;
  return {ShortDigest(seed), "Conv", site};
}

std::vector<TuningEntry> Entries() { return {Entry("a", 0), Entry("b", 2)}; }

// A text with the checksum that it should have.
std::string Seal(absl::string_view text) {
  const absl::string_view body = text.substr(0, text.rfind("end "));
  return absl::StrCat(body, "end ", ShortDigest(body), "\n");
}

TEST(TuningFile, IsReadBackAsItWasWritten) {
  const auto read = ParseTuning(FormatTuning(kOwner, Entries()), kOwner);
  ASSERT_THAT(read, IsOk());
  ASSERT_THAT(*read, SizeIs(2));
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*read)[i].site_key, Entries()[i].site_key);
    EXPECT_EQ((*read)[i].op, "Conv");
    const MeasuredSite& site = *(*read)[i].measured;
    EXPECT_EQ(site.chosen, i == 0 ? 0 : 2);
    ASSERT_THAT(site.siblings, SizeIs(3));
    EXPECT_EQ(site.siblings[0].kernel, "conv_f32_1x1");
    EXPECT_EQ(site.siblings[0].ns, 1234.5);
    EXPECT_TRUE(site.siblings[0].agrees);
    EXPECT_FALSE(site.siblings[1].agrees);
  }
}

TEST(TuningFile, OfAnotherBuildOrDeviceIsRefused) {
  const std::string text = FormatTuning(kOwner, Entries());
  for (const TuningOwner& other :
       {TuningOwner{"build-2", kOwner.device}, TuningOwner{"build-1", "b"}}) {
    EXPECT_THAT(ParseTuning(text, other),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("another build")));
    EXPECT_NE(TuningPath("d", other), TuningPath("d", kOwner));
  }
}

TEST(TuningFile, CutAnywhereIsRefused) {
  const std::string text = FormatTuning(kOwner, Entries());
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(ParseTuning(text.substr(0, size), kOwner).ok()) << size;
  }
  EXPECT_FALSE(ParseTuning(text + "x", kOwner).ok());
}

// Without the checksum, which says no first, and with it.
TEST(TuningFile, AnyChangedByteIsRefused) {
  const std::string text = FormatTuning(kOwner, Entries());
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(ParseTuning(changed, kOwner).ok()) << i;
  }
}

TEST(TuningFile, WrongLinesAreRefusedAlthoughTheChecksumIsRight) {
  const std::string key = ShortDigest("a");
  for (const std::string& line :
       std::vector<std::string>{"",
                                " ",
                                key,
                                key + " Conv",
                                key + " Conv * ",
                                key + " Conv k 1",
                                key + " Conv k 1 *",
                                key + " Conv * k",
                                key + " Conv * k 1 * l 2",
                                key + " Conv * k -1",
                                key + " Conv * k nan",
                                key + " Conv * k inf",
                                key + " Conv * k 1e300",
                                key + " Conv * k 1 l",
                                key + " Conv * k/../x 1",
                                key + " Conv * k% 1",
                                key + " Konv * k 1",
                                key.substr(1) + " Conv * k 1",
                                key.substr(1) + "G Conv * k 1",
                                key + " Conv * " + std::string(200, 'k') + " 1",
                                std::string(100'000, 'x'),
                                std::string(1, '\0')}) {
    const std::string text =
        Seal(FormatTuning(kOwner, {})
                 .insert(FormatTuning(kOwner, {}).rfind("end "), line + "\n"));
    EXPECT_FALSE(ParseTuning(text, kOwner).ok()) << line.substr(0, 80);
  }
  std::string many = key + " Conv *";
  for (int i = 0; i < 100; ++i) absl::StrAppend(&many, " k", i, " 1");
  const std::string text = FormatTuning(kOwner, {});
  EXPECT_FALSE(ParseTuning(Seal(std::string(text).insert(text.rfind("end "),
                                                         many + "\n")),
                           kOwner)
                   .ok());
}

// What comes out of it, if anything, is well-formed.
TEST(TuningFile, RandomTextsNeverDoHarm) {
  std::mt19937_64 random(1);
  const std::string text = FormatTuning(kOwner, Entries());
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string changed = text;
    const int changes = 1 + static_cast<int>(random() % 8);
    for (int i = 0; i < changes && !changed.empty(); ++i) {
      const size_t place = random() % changed.size();
      switch (random() % 3) {
        case 0:
          changed[place] = static_cast<char>(random());
          break;
        case 1:
          changed.erase(place, random() % 16);
          break;
        default:
          changed.insert(
              place, changed.substr(random() % changed.size(), random() % 64));
      }
    }
    if (random() % 2 == 0 && changed.rfind("end ") != std::string::npos) {
      changed = Seal(changed);
    }
    const auto read = ParseTuning(changed, kOwner);
    if (!read.ok()) continue;
    ++accepted;
    for (const TuningEntry& entry : *read) {
      ASSERT_LT(entry.measured->chosen, entry.measured->siblings.size());
    }
  }
  EXPECT_LT(accepted, 20'000);
}

TEST(TuningFile, IsReplacedAtOnceAndLeavesNothingBehind) {
  const ScratchFolder folder;
  const std::string path = TuningPath(folder.path(), kOwner);
  EXPECT_THAT(ReadTuning(path, kOwner),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("")));
  ASSERT_THAT(WriteTuning(path, kOwner, {Entry("a", 0)}), IsOk());
  ASSERT_THAT(WriteTuning(path, kOwner, Entries()), IsOk());
  EXPECT_THAT(folder.files(), ::testing::ElementsAre(path));
  const auto read = ReadTuning(path, kOwner);
  ASSERT_THAT(read, IsOk());
  EXPECT_THAT(*read, SizeIs(2));
}

// Processes of two containers may have one id: a file that one of them writes
// now is not the other's to replace.
TEST(TuningFile, WritersShareAFolderAndTakeAwayWhatTheDeadLeft) {
  const ScratchFolder folder;
  const std::string path = TuningPath(folder.path(), kOwner);
  const std::string young = absl::StrCat(path, ".", getpid(), ".new");
  const std::string old = path + ".Xa81fQ.new";
  const std::string other = folder.path() + "/other.new";
  for (const std::string& file : {young, old, other}) WriteWhole(file, "half");
  const auto long_ago =
      std::filesystem::file_time_type::clock::now() - std::chrono::hours(2);
  for (const std::string& file : {old, other}) {
    std::filesystem::last_write_time(file, long_ago);
  }
  ASSERT_THAT(WriteTuning(path, kOwner, Entries()), IsOk());
  EXPECT_THAT(folder.files(),
              ::testing::UnorderedElementsAre(path, young, other));
  EXPECT_EQ(ReadWhole(young), "half");
  EXPECT_THAT(ReadTuning(path, kOwner), IsOk());
}

TEST(TuningFile, WhatCannotBeReadOrWrittenIsAStatus) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/no/folder/f.tuning";
  EXPECT_THAT(WriteTuning(path, kOwner, Entries()),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("no/folder")));
  EXPECT_THAT(ReadTuning(folder.path(), kOwner),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("no file")));
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(ReadTuning(pipe, kOwner),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("no file")));
  const std::string large = folder.path() + "/large";
  WriteWhole(large, std::string(kMaxTuningFileBytes + 1, 'x'));
  EXPECT_THAT(ReadTuning(large, kOwner),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("more than")));
}

}  // namespace
}  // namespace tensord
