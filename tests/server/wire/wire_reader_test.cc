#include "server/wire/wire_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/wire/wire_writer.h"

namespace tensord {
namespace {

using Segments = std::vector<absl::string_view>;

// Every way to cut `bytes` into two, with an empty segment between.
std::vector<Segments> Cuts(const std::string& bytes) {
  const absl::string_view all(bytes);
  std::vector<Segments> cuts = {{all}};
  for (size_t i = 0; i <= bytes.size(); ++i) {
    cuts.push_back({all.substr(0, i), {}, all.substr(i)});
  }
  return cuts;
}

TEST(WireReader, ReadsVarintsAcrossEverySegmentBorder) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128},
                               uint64_t{1} << 32, UINT64_MAX}) {
    std::string bytes;
    WireWriter(bytes).Varint(value);
    EXPECT_EQ(bytes.size(), WireWriter::VarintSize(value));
    for (const Segments& segments : Cuts(bytes)) {
      WireReader reader(segments);
      uint64_t read;
      ASSERT_TRUE(reader.ReadVarint(read));
      EXPECT_EQ(read, value);
      EXPECT_TRUE(reader.AtEnd());
    }
  }
}

TEST(WireReader, RefusesAVarintOfElevenBytes) {
  const std::string bytes(11, '\x80');
  const Segments segments = {bytes};
  WireReader reader(segments);
  uint64_t value;
  EXPECT_FALSE(reader.ReadVarint(value));
}

TEST(WireReader, RefusesEveryTruncation) {
  std::string bytes;
  WireWriter writer(bytes);
  writer.Bytes(1, "hello");
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Segments segments = {absl::string_view(bytes).substr(0, size)};
    WireReader reader(segments);
    WireReader::Tag tag;
    std::string text;
    EXPECT_FALSE(reader.ReadTag(tag) && reader.ReadString(100, text)) << size;
  }
}

TEST(WireReader, ANestedMessageEndsWhereItsLengthSays) {
  std::string inner, bytes;
  WireWriter(inner).Number(1, 7);
  WireWriter writer(bytes);
  writer.Bytes(2, inner);
  writer.Number(3, 9);
  for (const Segments& segments : Cuts(bytes)) {
    WireReader reader(segments);
    WireReader::Tag tag;
    size_t outer_end;
    uint64_t value;
    ASSERT_TRUE(reader.ReadTag(tag) && reader.Enter(outer_end));
    ASSERT_TRUE(reader.ReadTag(tag) && reader.ReadVarint(value));
    EXPECT_EQ(value, 7u);
    EXPECT_TRUE(reader.AtEnd());
    EXPECT_FALSE(reader.ReadVarint(value));
    reader.Leave(outer_end);
    ASSERT_TRUE(reader.ReadTag(tag) && reader.ReadVarint(value));
    EXPECT_EQ(value, 9u);
  }
}

TEST(WireReader, ALengthPastTheEndOfItsMessageIsRefused) {
  std::string bytes;
  WireWriter writer(bytes);
  writer.Begin(1, 2);  // a message of two bytes,
  writer.Begin(1, 5);  // whose field claims five,
  bytes += "12345";    // which are there, but not the message's
  const Segments segments = {bytes};
  WireReader reader(segments);
  WireReader::Tag tag;
  size_t outer_end, length;
  ASSERT_TRUE(reader.ReadTag(tag) && reader.Enter(outer_end) &&
              reader.ReadTag(tag));
  EXPECT_FALSE(reader.ReadLength(length));
}

TEST(WireReader, SkipsGroupsAndRefusesDeepOnes) {
  const auto nested = [](int depth) {
    return std::string(depth, '\x0b') + std::string(depth, '\x0c');
  };
  const auto skips = [](const std::string& bytes) {
    const Segments segments = {bytes};
    WireReader reader(segments);
    WireReader::Tag tag;
    return reader.ReadTag(tag) && reader.SkipValue(tag) && reader.AtEnd();
  };
  EXPECT_TRUE(skips(nested(1)));
  EXPECT_TRUE(skips(nested(100)));
  EXPECT_FALSE(skips(nested(3000)));
  EXPECT_FALSE(skips(std::string("\x0b\x14")));  // another field's end
}

}  // namespace
}  // namespace tensord
