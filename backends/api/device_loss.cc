#include "backends/api/device_loss.h"

#include "absl/strings/str_cat.h"

namespace tensord {

absl::Status DeviceLoss::Note(absl::string_view what) {
  absl::MutexLock lock(&mu_);
  if (status_.ok()) {
    status_ = absl::UnavailableError(
        absl::StrCat("device ", device_.ToString(), " is lost: ", what));
    is_lost_.store(true, std::memory_order_release);
  }
  return status_;
}

absl::Status DeviceLoss::status() const {
  if (!is_lost()) return absl::OkStatus();
  absl::MutexLock lock(&mu_);
  return status_;
}

}  // namespace tensord
