#ifndef TENSORD_TOOLS_TENSORDCTL_CONSOLE_H_
#define TENSORD_TOOLS_TENSORDCTL_CONSOLE_H_

#include <ostream>
#include <string>

#include "absl/strings/string_view.h"

namespace tensord::ctl {

// Where a command writes: answers to `out`, errors to `err`.
//
// Ownership: borrows both streams.
struct Console {
  std::ostream& out;
  std::ostream& err;
  // Colours in `out`, and in `err`.
  bool colour_out = false;
  bool colour_err = false;
  // Lines on `err` may be written over, and `out` be cleared: terminals.
  bool overwrites_err = false;
  bool clears_out = false;
  // Columns that a table may take. 0: as many as it needs.
  int width = 0;
};

// The process' own streams. Colours and a width only where they are terminals;
// no colours when NO_COLOR is set or TERM is "dumb".
Console TerminalConsole();

// Text that came from elsewhere, for a terminal: control characters, which
// could move the cursor or set colours, become \x1b.
std::string Printable(absl::string_view text);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_CONSOLE_H_
