#include "server/log/log_format.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

constexpr const char* kSeverityNames[] = {"debug", "info", "warning", "error"};
constexpr char kHexDigits[] = "0123456789abcdef";

// Bytes of the UTF-8 character at the front; 0 when there is none that is
// valid and no control character.
size_t PrintableLength(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  uint32_t code = first & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool is_too_long =
      (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  // C1 controls, and the marks that change a terminal's direction or line.
  const bool is_control = code < 0xa0 || (code >= 0x2028 && code <= 0x202e) ||
                          (code >= 0x2066 && code <= 0x2069);
  if (is_too_long || is_surrogate || is_control || code > 0x10ffff) return 0;
  return length;
}

// As the inside of a JSON string, which is also how text lines quote. A byte
// that is not printable UTF-8 becomes \u00XX.
void AppendEscaped(absl::string_view text, std::string& out) {
  const size_t full_size = text.size();
  text = text.substr(0, kMaxLogValueBytes);
  while (!text.empty()) {
    const size_t length = PrintableLength(text);
    const char c = text[0];
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (length > 0) {
      out.append(text.data(), length);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += "\\u00";
      out += kHexDigits[static_cast<uint8_t>(c) >> 4];
      out += kHexDigits[static_cast<uint8_t>(c) & 15];
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  if (full_size > kMaxLogValueBytes) {
    absl::StrAppend(&out, "... (", full_size, " bytes)");
  }
}

bool NeedsNoQuotes(absl::string_view text) {
  return !text.empty() && text.size() <= kMaxLogValueBytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isgraph(c) && c != '"' && c != '\\' && c != '=';
         });
}

void AppendQuoted(absl::string_view text, std::string& out) {
  out += '"';
  AppendEscaped(text, out);
  out += '"';
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

const char* SeverityName(LogSeverity severity) {
  return kSeverityNames[static_cast<size_t>(severity)];
}

}  // namespace

std::string FormatLogText(const LogEvent& event) {
  std::string line = absl::StrCat(TimeText(event.time), " ",
                                  SeverityName(event.severity), " ");
  AppendEscaped(event.name, line);
  for (const auto& [name, value] : event.fields) {
    line += ' ';
    AppendEscaped(name, line);
    line += '=';
    if (NeedsNoQuotes(value)) {
      line += value;
    } else {
      AppendQuoted(value, line);
    }
  }
  return line;
}

std::string FormatLogJson(const LogEvent& event) {
  std::string line =
      absl::StrCat("{\"time\":\"", TimeText(event.time), "\",\"severity\":\"",
                   SeverityName(event.severity), "\",\"event\":");
  AppendQuoted(event.name, line);
  for (const auto& [name, value] : event.fields) {
    line += ',';
    AppendQuoted(name, line);
    line += ':';
    AppendQuoted(value, line);
  }
  line += '}';
  return line;
}

}  // namespace tensord
