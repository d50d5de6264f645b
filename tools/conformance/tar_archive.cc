#include "tools/conformance/tar_archive.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"

namespace tensord::conformance {
namespace {

// A header and its file's bytes each start at a multiple of this.
constexpr size_t kBlock = 512;

// A field of a header, up to its first zero byte.
absl::string_view Text(absl::string_view header, size_t offset, size_t size) {
  const absl::string_view field = header.substr(offset, size);
  return field.substr(0, field.find('\0'));
}

absl::optional<uint64_t> Octal(absl::string_view header, size_t offset,
                               size_t size) {
  uint64_t value = 0;
  const absl::string_view digits = Text(header, offset, size);
  for (const char c : digits.substr(0, digits.find(' '))) {
    if (c < '0' || c > '7') return absl::nullopt;
    value = value * 8 + (c - '0');
  }
  return value;
}

// The sum of the header's bytes, with its own field as spaces.
uint64_t CheckSum(absl::string_view header) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const bool is_own_field = i >= 148 && i < 156;
    sum += is_own_field ? ' ' : static_cast<unsigned char>(header[i]);
  }
  return sum;
}

}  // namespace

absl::StatusOr<TarFiles> ReadTar(absl::string_view bytes) {
  TarFiles files;
  size_t offset = 0;
  const auto wrong = [&](absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("no ustar archive: ", what, " at byte ", offset));
  };
  while (offset + kBlock <= bytes.size()) {
    const absl::string_view header = bytes.substr(offset, kBlock);
    // Zeroes end the archive.
    if (header.find_first_not_of('\0') == absl::string_view::npos) return files;
    if (!absl::StartsWith(header.substr(257), "ustar"))
      return wrong("no magic");
    const auto size = Octal(header, 124, 12);
    if (!size || CheckSum(header) != Octal(header, 148, 8)) {
      return wrong("a wrong check sum");
    }
    const size_t begin = offset + kBlock;
    if (*size > bytes.size() - begin) return wrong("a file that is cut off");
    const char kind = header[156];
    if (kind == '0' || kind == '\0') {
      const absl::string_view prefix = Text(header, 345, 155);
      files[absl::StrCat(prefix, prefix.empty() ? "" : "/",
                         Text(header, 0, 100))] = bytes.substr(begin, *size);
    } else if (kind != '5') {
      return wrong(
          absl::StrCat("an entry of kind '", header.substr(156, 1), "'"));
    }
    offset = begin + (*size + kBlock - 1) / kBlock * kBlock;
  }
  return wrong("no end");
}

}  // namespace tensord::conformance
