#include "tools/tensordctl/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "absl/strings/str_format.h"

namespace tensord::ctl {
namespace {

// A terminal that knows escape sequences.
bool IsScreen(int file) {
  const char* terminal = std::getenv("TERM");
  return isatty(file) != 0 && terminal != nullptr &&
         absl::string_view(terminal) != "dumb";
}

bool WantsColour(int file) {
  const char* no_colour = std::getenv("NO_COLOR");
  return IsScreen(file) && (no_colour == nullptr || *no_colour == '\0');
}

int TerminalWidth(int file) {
  winsize size{};
  if (isatty(file) == 0 || ioctl(file, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace

Console TerminalConsole() {
  return {.out = std::cout,
          .err = std::cerr,
          .colour_out = WantsColour(STDOUT_FILENO),
          .colour_err = WantsColour(STDERR_FILENO),
          .overwrites_err = IsScreen(STDERR_FILENO),
          .clears_out = IsScreen(STDOUT_FILENO),
          .width = TerminalWidth(STDOUT_FILENO)};
}

std::string Printable(absl::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const unsigned char next =
        i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    // C2 80 to C2 9F is UTF-8 for the control characters of Latin-1.
    const bool is_c1 = c == 0xc2 && next >= 0x80 && next < 0xa0;
    if (c < 0x20 || c == 0x7f) {
      absl::StrAppendFormat(&result, "\\x%02x", c);
    } else if (is_c1) {
      absl::StrAppendFormat(&result, "\\x%02x", next);
      ++i;
    } else {
      result.push_back(text[i]);
    }
  }
  return result;
}

}  // namespace tensord::ctl
