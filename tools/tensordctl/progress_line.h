#ifndef TENSORD_TOOLS_TENSORDCTL_PROGRESS_LINE_H_
#define TENSORD_TOOLS_TENSORDCTL_PROGRESS_LINE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tools/tensordctl/console.h"

namespace tensord::ctl {

// A line on the console's err that is written over and over, and is gone when
// the work is done. Nothing where err is no terminal.
//
// Threading: confined to one thread. Ownership: borrows the console.
class ProgressLine {
 public:
  explicit ProgressLine(const Console& console) : console_(console) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { Clear(); }

  // Ten times a second at most; what comes between is left out.
  void Show(absl::string_view text);
  void Clear();

 private:
  const Console& console_;
  absl::Time next_ = absl::InfinitePast();
  bool is_shown_ = false;
};

// "name [#####-----]  50 %  32.0 MiB of 64.0 MiB, 1.20 GiB/s, 1 s left".
std::string TransferText(absl::string_view name, int64_t done_bytes,
                         int64_t size_bytes, absl::Duration elapsed);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_PROGRESS_LINE_H_
