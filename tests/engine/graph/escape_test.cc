#include "engine/graph/escape.h"

#include <gtest/gtest.h>

#include <string>

namespace tensord {
namespace {

TEST(EscapeTest, PrintableTextStaysAsItIs) {
  EXPECT_EQ(Escape("conv1/weights:0"), "conv1/weights:0");
  EXPECT_EQ(Escape("größe 寸法 📐"), "größe 寸法 📐");
  EXPECT_EQ(Quoted("x"), "'x'");
}

TEST(EscapeTest, ControlCharactersAndBrokenUtf8BecomeEscapes) {
  EXPECT_EQ(Escape("a\nb\x1b[2J"), "a\\nb\\x1b[2J");
  EXPECT_EQ(Escape("\xc2\x9b"), "\\xc2\\x9b");           // C1: CSI
  EXPECT_EQ(Escape("\xff\xc0\x80"), "\\xff\\xc0\\x80");  // never UTF-8
  EXPECT_EQ(Escape("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(Escape("\xe2\x82"), "\\xe2\\x82");           // cut short
  EXPECT_EQ(Escape("it's"), "it\\'s");
}

TEST(EscapeTest, LongTextIsCutAndSaysHowLongItWas) {
  const std::string escaped = Escape(std::string(1'000'000, 'x'));
  EXPECT_LT(escaped.size(), 128u);
  EXPECT_NE(escaped.find("... (1000000 bytes)"), std::string::npos);
  EXPECT_LT(Escape(std::string(1'000'000, '\x01')).size(), 128u);
}

TEST(EscapeTest, CheckPrintableNamesTheOffendingByte) {
  EXPECT_TRUE(CheckPrintable("value name", "größe").ok());
  EXPECT_TRUE(CheckPrintable("value name", "").ok());
  EXPECT_EQ(CheckPrintable("value name", "ab\tc").message(),
            "value name 'ab\\tc' has a control character at byte 2");
  EXPECT_EQ(CheckPrintable("value name", "a\xff").message(),
            "value name 'a\\xff' is not UTF-8 at byte 1");
}

TEST(LimitExceededTest, NamesTheLimitTheNumbersAndTheFlag) {
  const absl::Status status =
      LimitExceeded("graph", 12, "nodes", "max_nodes", 10);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "graph has 12 nodes; the limit max_nodes is 10 (--max-nodes)");
}

}  // namespace
}  // namespace tensord
