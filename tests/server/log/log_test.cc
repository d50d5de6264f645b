#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "server/log/log_format.h"
#include "server/log/server_logger.h"
#include "server/log/trace_context.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Logger::Field> OneField(std::string value) {
  return {{"name", std::move(value)}};
}

LogEvent EventWith(const std::vector<Logger::Field>& fields) {
  return {absl::FromUnixMillis(1'700'000'000'123), LogSeverity::kWarning,
          "graph refused", fields};
}

TEST(LogFormat, TextQuotesOnlyWhatNeedsIt) {
  const std::vector<Logger::Field> fields = {
      {"device", "cpu:0"}, {"why", "it is \"gone\""}, {"empty", ""}};
  EXPECT_EQ(FormatLogText(EventWith(fields)),
            "2023-11-14T22:13:20.123Z warning graph refused device=cpu:0 "
            "why=\"it is \\\"gone\\\"\" empty=\"\"");
}

TEST(LogFormat, JsonIsOneObjectWithTheFields) {
  const auto fields = OneField("a \"b\" \\ c");
  const auto line = nlohmann::json::parse(FormatLogJson(EventWith(fields)));
  EXPECT_EQ(line["event"], "graph refused");
  EXPECT_EQ(line["severity"], "warning");
  EXPECT_EQ(line["time"], "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(line["name"], "a \"b\" \\ c");
}

// Every single byte, and pairs that are broken UTF-8: the line stays one line,
// printable, and (JSON) parseable.
TEST(LogFormat, NoValueBreaksTheLine) {
  std::vector<std::string> values = {"\xc0\x80",
                                     "\xed\xa0\x80",
                                     "\xf4\x90\x80\x80",
                                     "\xe2\x80",
                                     "\xe2\x80\xa8",
                                     "\x1b[31mred",
                                     "a\nb\rc",
                                     "\xc2\x85",
                                     "\xe2\x80\xae"
                                     "evil",
                                     std::string("a\0b", 3)};
  for (int byte = 0; byte < 256; ++byte) {
    values.push_back(std::string(1, static_cast<char>(byte)));
    values.push_back(std::string({'x', static_cast<char>(byte), 'y'}));
  }
  for (const std::string& value : values) {
    const auto fields = OneField(value);
    for (const std::string& line :
         {FormatLogText(EventWith(fields)), FormatLogJson(EventWith(fields))}) {
      for (unsigned char c : line) EXPECT_GE(c, 0x20) << line;
    }
    EXPECT_TRUE(nlohmann::json::accept(FormatLogJson(EventWith(fields))))
        << FormatLogJson(EventWith(fields));
  }
}

TEST(LogFormat, GoodUtf8StaysReadable) {
  const auto fields = OneField("größe 模型 🙂");
  EXPECT_THAT(FormatLogText(EventWith(fields)),
              HasSubstr("größe 模型 🙂"));
}

TEST(LogFormat, ALongValueIsCutAndSaysSo) {
  const auto fields = OneField(std::string(1'000'000, 'a'));
  const std::string line = FormatLogText(EventWith(fields));
  EXPECT_LT(line.size(), 2 * kMaxLogValueBytes);
  EXPECT_THAT(line, HasSubstr("... (1000000 bytes)"));
}

TEST(ServerLogger, WritesOneLineAnEventFromItsLevelUp) {
  std::ostringstream out;
  ServerLogger logger({.is_json = false, .level = LogSeverity::kInfo},
                      std::make_shared<spdlog::sinks::ostream_sink_mt>(out));
  EXPECT_FALSE(logger.is_enabled(LogSeverity::kDebug));
  logger.Log(LogSeverity::kDebug, "hidden", {});
  const auto fields = OneField("{} %s\n%v");
  logger.Log(LogSeverity::kError, "shown", fields);
  logger.Flush();
  EXPECT_THAT(out.str(), Not(HasSubstr("hidden")));
  EXPECT_THAT(out.str(), HasSubstr("error shown name=\"{} %s\\n%v\"\n"));
}

TEST(TraceContext, TakesTheTraceIdOfAValidHeader) {
  const std::string id = "4bf92f3577b34da6a3ce929d0e0e4736";
  EXPECT_EQ(TraceIdOf("00-" + id + "-00f067aa0ba902b7-01"), id);
  EXPECT_EQ(TraceIdOf("cc-" + id + "-00f067aa0ba902b7-01-more"), id);
}

TEST(TraceContext, IgnoresWhatTheRecommendationTellsToIgnore) {
  const std::string id = "4bf92f3577b34da6a3ce929d0e0e4736";
  for (const std::string& header : std::vector<std::string>{
           std::string(), std::string("00"), "00-" + id + "-00f067aa0ba902b7",
           "ff-" + id + "-00f067aa0ba902b7-01",
           "00-" + id + "-00f067aa0ba902b7-01-more",
           "00-" + id + "-0000000000000000-01",
           "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
           "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
           "00_" + id + "-00f067aa0ba902b7-01",
           "0x-" + id + "-00f067aa0ba902b7-01"}) {
    EXPECT_EQ(TraceIdOf(header), "") << header;
  }
}

}  // namespace
}  // namespace tensord
