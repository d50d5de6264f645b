#include "tools/tensordctl/progress_line.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "tools/tensordctl/units.h"

namespace tensord::ctl {
namespace {

constexpr absl::Duration kPeriod = absl::Milliseconds(100);
constexpr char kBackToStart[] = "\r\x1b[K";

}  // namespace

void ProgressLine::Show(absl::string_view text) {
  const absl::Time now = absl::Now();
  if (!console_.overwrites_err || now < next_) return;
  next_ = now + kPeriod;
  is_shown_ = true;
  console_.err << kBackToStart << Printable(text) << std::flush;
}

void ProgressLine::Clear() {
  if (is_shown_) console_.err << kBackToStart << std::flush;
  is_shown_ = false;
}

std::string TransferText(absl::string_view name, int64_t done_bytes,
                         int64_t size_bytes, absl::Duration elapsed) {
  constexpr int kWidth = 20;
  const double share = size_bytes == 0 ? 1
                                       : static_cast<double>(done_bytes) /
                                             static_cast<double>(size_bytes);
  const int full = std::clamp(static_cast<int>(share * kWidth), 0, kWidth);
  std::string text = absl::StrFormat(
      "%s [%s%s] %3.0f %%  %s of %s", name, std::string(full, '#'),
      std::string(kWidth - full, '-'), 100 * share, FormatBytes(done_bytes),
      FormatBytes(size_bytes));
  const double seconds = absl::ToDoubleSeconds(elapsed);
  if (done_bytes == 0 || seconds <= 0) return text;
  const double rate = static_cast<double>(done_bytes) / seconds;
  absl::StrAppendFormat(&text, ", %s/s, %.0f s left",
                        FormatBytes(static_cast<int64_t>(rate)),
                        static_cast<double>(size_bytes - done_bytes) / rate);
  return text;
}

}  // namespace tensord::ctl
