#include "server/config/option_values.h"

#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tensord {
namespace {

struct Unit {
  absl::string_view name;
  int64_t bytes;
};
constexpr std::array<Unit, 4> kUnits = {{{"TiB", int64_t{1} << 40},
                                         {"GiB", int64_t{1} << 30},
                                         {"MiB", int64_t{1} << 20},
                                         {"KiB", int64_t{1} << 10}}};

absl::Status Wrong(absl::string_view text, absl::string_view right) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is not right; give ", right));
}

}  // namespace

absl::StatusOr<bool> ParseBool(absl::string_view text) {
  if (text == "true" || text == "1" || text == "yes" || text == "on") {
    return true;
  }
  if (text == "false" || text == "0" || text == "no" || text == "off") {
    return false;
  }
  return Wrong(text, "true or false");
}

std::string FormatBool(bool value) { return value ? "true" : "false"; }

absl::StatusOr<int64_t> ParseNumber(absl::string_view text, int64_t min,
                                    int64_t max) {
  int64_t value;
  if (!absl::SimpleAtoi(text, &value) || value < min || value > max) {
    return Wrong(text, absl::StrCat("a whole number from ", min, " to ", max));
  }
  return value;
}

absl::StatusOr<int64_t> ParseBytes(absl::string_view text, int64_t min,
                                   int64_t max) {
  absl::string_view digits = text;
  int64_t unit_bytes = 1;
  for (const Unit& unit : kUnits) {
    if (absl::ConsumeSuffix(&digits, unit.name)) {
      unit_bytes = unit.bytes;
      break;
    }
  }
  digits = absl::StripAsciiWhitespace(digits);
  int64_t value;
  if (!absl::SimpleAtoi(digits, &value) || value < 0 ||
      value > max / unit_bytes || value * unit_bytes < min) {
    return Wrong(text,
                 absl::StrCat("bytes from ", FormatBytes(min), " to ",
                              FormatBytes(max), ", such as 1048576 or 1MiB"));
  }
  return value * unit_bytes;
}

std::string FormatBytes(int64_t bytes) {
  for (const Unit& unit : kUnits) {
    if (bytes != 0 && bytes % unit.bytes == 0) {
      return absl::StrCat(bytes / unit.bytes, unit.name);
    }
  }
  return absl::StrCat(bytes);
}

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text) {
  absl::Duration value;
  if (!absl::ParseDuration(text, &value) || value < absl::ZeroDuration() ||
      value == absl::InfiniteDuration()) {
    return Wrong(text, "a time with its unit, such as 30s, 1m30s or 250ms");
  }
  return value;
}

std::vector<std::string> ParseList(absl::string_view text) {
  std::vector<std::string> parts;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

}  // namespace tensord
