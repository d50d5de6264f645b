#include "engine/graph/escape.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/limit_exceeded.h"

namespace tensord {
namespace {

// The length of the UTF-8 sequence that begins at `text[at]`, or 0 when it is
// none: overlong forms, surrogates and numbers past U+10FFFF included.
size_t Utf8SequenceLength(absl::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
  };
  const auto continues = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const uint8_t lead = byte(at);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return continues(at + 1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    if (!continues(at + 1) || !continues(at + 2)) return 0;
    if (lead == 0xe0 && byte(at + 1) < 0xa0) return 0;
    if (lead == 0xed && byte(at + 1) > 0x9f) return 0;
    return 3;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (!continues(at + 1) || !continues(at + 2) || !continues(at + 3)) {
      return 0;
    }
    if (lead == 0xf0 && byte(at + 1) < 0x90) return 0;
    if (lead == 0xf4 && byte(at + 1) > 0x8f) return 0;
    return 4;
  }
  return 0;
}

// C0, DEL, and C1 (U+0080 to U+009F, which terminals obey as well).
bool IsControl(absl::string_view text, size_t at) {
  const auto lead = static_cast<uint8_t>(text[at]);
  if (lead < 0x20 || lead == 0x7f) return true;
  return lead == 0xc2 && at + 1 < text.size() &&
         static_cast<uint8_t>(text[at + 1]) < 0xa0;
}

}  // namespace

std::string Escape(absl::string_view text) {
  std::string escaped;
  size_t at = 0;
  while (at < text.size() && escaped.size() < kMaxEscapedBytes) {
    const size_t length = Utf8SequenceLength(text, at);
    const size_t taken = length == 0 ? 1 : length;
    const absl::string_view piece = text.substr(at, taken);
    if (length > 1 && !IsControl(text, at)) {
      absl::StrAppend(&escaped, piece);
    } else {
      absl::StrAppend(&escaped, absl::CHexEscape(piece));
    }
    at += taken;
  }
  if (at < text.size()) {
    absl::StrAppend(&escaped, "... (", text.size(), " bytes)");
  }
  return escaped;
}

std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", Escape(text), "'");
}

absl::Status CheckPrintable(absl::string_view what, absl::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8SequenceLength(text, at);
    if (length == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, " ", Quoted(text), " is not UTF-8 at byte ", at));
    }
    if (IsControl(text, at)) {
      return absl::InvalidArgumentError(absl::StrCat(
          what, " ", Quoted(text), " has a control character at byte ", at));
    }
    at += length;
  }
  return absl::OkStatus();
}

absl::Status LimitExceeded(absl::string_view what, int64_t asked,
                           absl::string_view unit, absl::string_view limit_name,
                           int64_t limit) {
  const LimitDetails details{.limit = std::string(limit_name),
                             .maximum = limit,
                             .requested = asked,
                             .unit = std::string(unit),
                             .scope = "graph",
                             .subject = std::string(what)};
  return details.ToStatus(absl::StrCat(what, " has ", asked, " ", unit));
}

}  // namespace tensord
