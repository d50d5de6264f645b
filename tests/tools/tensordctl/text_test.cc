// What people read: units, tables, types, quantiles, escapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <sstream>
#include <string>

#include "tools/tensordctl/console.h"
#include "tools/tensordctl/files.h"
#include "tools/tensordctl/histogram.h"
#include "tools/tensordctl/table.h"
#include "tools/tensordctl/type_text.h"
#include "tools/tensordctl/units.h"

namespace tensord::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Units, HaveThreeDigits) {
  EXPECT_EQ(FormatNs(0), "0 ns");
  EXPECT_EQ(FormatNs(850), "850 ns");
  EXPECT_EQ(FormatNs(12.34), "12.3 ns");
  EXPECT_EQ(FormatNs(12'340), "12.3 us");
  EXPECT_EQ(FormatNs(1'234'000), "1.23 ms");
  EXPECT_EQ(FormatNs(999'600), "1.00 ms");
  EXPECT_EQ(FormatNs(2.5e9), "2.50 s");
  EXPECT_EQ(FormatNs(75 * 60e9), "75.0 min");
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1536), "1.50 KiB");
  EXPECT_EQ(FormatBytes(64 << 20), "64.0 MiB");
  EXPECT_EQ(FormatBytes(-2048), "-2.00 KiB");
  EXPECT_EQ(FormatShare(1, 8), "12.5 %");
  EXPECT_EQ(FormatShare(1, 0), "-");
}

struct Printed {
  std::ostringstream out, err;
  Console console{out, err};
};

TEST(Table, AlignsItsColumns) {
  Table table({{"OP"}, {"COUNT", Align::kRight}});
  table.AddRow({"Conv", "5"});
  table.AddRow({"Relu", "12345"});
  Printed printed;
  table.Print(printed.console);
  EXPECT_EQ(printed.out.str(),
            "OP   COUNT\n"
            "Conv     5\n"
            "Relu 12345\n");
}

TEST(Table, SaysThatItHasNoRows) {
  Printed printed;
  Table({{"OP"}}).Print(printed.console);
  EXPECT_EQ(printed.out.str(), "none\n");
}

TEST(Table, CountsTheWidthOfUtf8) {
  ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
  Table table({{"A"}, {"B"}});
  table.AddRow({"\u00e4\u00f6", "1"});
  table.AddRow({"xy", "2"});
  Printed printed;
  table.Print(printed.console);
  EXPECT_THAT(printed.out.str(), HasSubstr("\u00e4\u00f6 1\nxy 2\n"));
}

TEST(Table, ShowsControlCharactersAsEscapes) {
  Table table({{"NAME"}});
  table.AddRow({"\x1b[31mred"});
  Printed printed;
  table.Print(printed.console);
  EXPECT_THAT(printed.out.str(), Not(HasSubstr("\x1b")));
  EXPECT_THAT(printed.out.str(), HasSubstr("x1b[31mred"));
}

TEST(Table, HasColoursOnlyWhereTheConsoleHas) {
  Table table({{"NAME"}});
  table.AddRow({"bad"}, Tone::kBad);
  Printed plain;
  table.Print(plain.console);
  EXPECT_THAT(plain.out.str(), Not(HasSubstr("\x1b")));
  Printed coloured;
  coloured.console.colour_out = true;
  table.Print(coloured.console);
  EXPECT_THAT(coloured.out.str(), HasSubstr("\x1b[31m"));
}

TEST(Table, CutsOnlyColumnsThatMayBeCut) {
  Table table({{"KEEP"}, {"CUT", Align::kLeft, true}});
  table.AddRow({std::string(30, 'k'), std::string(60, 'c')});
  Printed printed;
  printed.console.width = 50;
  table.Print(printed.console);
  EXPECT_THAT(printed.out.str(), HasSubstr(std::string(30, 'k')));
  EXPECT_THAT(printed.out.str(), Not(HasSubstr(std::string(60, 'c'))));
  // Without a terminal nothing is cut.
  Printed piped;
  table.Print(piped.console);
  EXPECT_THAT(piped.out.str(), HasSubstr(std::string(60, 'c')));
}

TEST(Table, LeavesOutColumnsThatSayNothing) {
  Table table({{"A"},
               {.title = "EMPTY", .only_if_used = true},
               {.title = "USED", .only_if_used = true}});
  table.AddRow({"1", "-", "-"});
  table.AddRow({"2", "", "x"});
  Printed printed;
  table.Print(printed.console);
  EXPECT_EQ(printed.out.str(), "A USED\n1 -\n2 x\n");
}

TEST(Printable, HidesWhatMovesTheCursor) {
  EXPECT_EQ(Printable("a\nb\tc\x7f"), "a\\x0ab\\x09c\\x7f");
  EXPECT_EQ(Printable("\x1b[2J"), "\\x1b[2J");
  // U+009B is the same as ESC [ to some terminals.
  EXPECT_EQ(Printable("\xc2\x9b"), "\\x9b");
  EXPECT_EQ(Printable("\u00e4 \u4e2d"), "\u00e4 \u4e2d");
}

TEST(FileNameFor, StaysInTheFolder) {
  EXPECT_EQ(FileNameFor("probabilities"), "probabilities");
  EXPECT_EQ(FileNameFor("../../etc/passwd"), "_.._.._etc_passwd");
  EXPECT_EQ(FileNameFor("Identity:0"), "Identity_0");
  EXPECT_EQ(FileNameFor(""), "_");
  EXPECT_EQ(FileNameFor(".."), "_..");
}

TEST(TypeText, ShowsSymbolsAndBounds) {
  v1::ValueInfo value;
  value.set_dtype(v1::DTYPE_FLOAT32);
  EXPECT_EQ(TypeText(value), "float32[]");
  value.add_dims()->set_symbol("N");
  value.add_dims()->set_size(8);
  value.add_dims()->set_max_size(64);
  EXPECT_EQ(TypeText(value), "float32[N,8,?<=64]");
  value.set_kind(v1::VALUE_KIND_SEQUENCE);
  EXPECT_EQ(TypeText(value), "sequence of float32[N,8,?<=64]");
  value.Clear();
  value.set_rank_unknown(true);
  EXPECT_EQ(TypeText(value), "?[...]");
}

TEST(DTypeText, IsReadBackForEveryDType) {
  for (int number = v1::DType_MIN + 1; number <= v1::DType_MAX; ++number) {
    const v1::DType dtype = static_cast<v1::DType>(number);
    EXPECT_EQ(DTypeFromText(DTypeText(dtype)), dtype);
  }
  EXPECT_EQ(DTypeFromText("float"), v1::DTYPE_UNSPECIFIED);
  EXPECT_EQ(DTypeText(static_cast<v1::DType>(77)), "dtype77");
}

TEST(QuantileNs, SpreadsTheSamplesOfABucketEvenly) {
  const int64_t bounds[] = {100, 200, 400};
  const int64_t counts[] = {0, 10, 10, 0};
  EXPECT_DOUBLE_EQ(*QuantileNs(bounds, counts, 0.5), 200);
  EXPECT_DOUBLE_EQ(*QuantileNs(bounds, counts, 0.25), 150);
  EXPECT_DOUBLE_EQ(*QuantileNs(bounds, counts, 0.75), 300);
  EXPECT_DOUBLE_EQ(*QuantileNs(bounds, counts, 1), 400);
}

TEST(QuantileNs, IsTheLastBoundForWhatIsAboveAll) {
  const int64_t bounds[] = {100, 200};
  const int64_t counts[] = {1, 0, 99};
  EXPECT_DOUBLE_EQ(*QuantileNs(bounds, counts, 0.99), 200);
}

TEST(QuantileNs, IsAbsentWithoutSamplesOrWithOtherBuckets) {
  const int64_t bounds[] = {100, 200};
  EXPECT_FALSE(QuantileNs(bounds, {0, 0, 0}, 0.5).has_value());
  EXPECT_FALSE(QuantileNs(bounds, {1, 1}, 0.5).has_value());
  EXPECT_FALSE(QuantileNs({}, {1}, 0.5).has_value());
}

}  // namespace
}  // namespace tensord::ctl
