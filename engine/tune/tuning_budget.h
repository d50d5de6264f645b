#ifndef TENSORD_ENGINE_TUNE_TUNING_BUDGET_H_
#define TENSORD_ENGINE_TUNE_TUNING_BUDGET_H_

#include <algorithm>

#include "absl/time/time.h"

namespace tensord {

// How much time the tuner may spend: an allowance for each hour, all of it
// there at the start, since that is when graphs are new. What is left over from
// an idle hour is not added to the next.
//
// Threading: the tuner's thread. A plain value; the caller brings the clock.
class TuningBudget {
 public:
  TuningBudget(absl::Duration per_hour, absl::Time now)
      : per_hour_(per_hour), left_(per_hour), updated_(now) {}

  // What was spent may be above what was left: the next trial waits for it.
  void Charge(absl::Duration spent, absl::Time now) {
    Refill(now);
    left_ -= spent;
  }

  // How long until a trial may begin; infinite with no allowance.
  absl::Duration Wait(absl::Time now) {
    Refill(now);
    if (per_hour_ <= absl::ZeroDuration()) return absl::InfiniteDuration();
    if (left_ > absl::ZeroDuration()) return absl::ZeroDuration();
    const double hours = absl::FDivDuration(-left_, per_hour_);
    return absl::Hours(hours) + absl::Milliseconds(1);
  }

 private:
  void Refill(absl::Time now) {
    if (now <= updated_) return;
    const double hours = absl::FDivDuration(now - updated_, absl::Hours(1));
    left_ = std::min(per_hour_, left_ + per_hour_ * hours);
    updated_ = now;
  }

  absl::Duration per_hour_;
  absl::Duration left_;
  absl::Time updated_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_TUNE_TUNING_BUDGET_H_
