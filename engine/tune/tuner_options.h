#ifndef TENSORD_ENGINE_TUNE_TUNER_OPTIONS_H_
#define TENSORD_ENGINE_TUNE_TUNER_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace tensord {

// What one trial may take. Threading and ownership: a plain value.
struct TrialLimits {
  absl::Duration max_time = absl::Seconds(2);  // of all its work
  uint64_t max_bytes = uint64_t{512} << 20;    // operands and scratch memory
  // A node that is estimated above this is left alone, and so is a sibling
  // that takes longer: while a launch runs, a client's execution waits.
  absl::Duration max_estimate = absl::Milliseconds(20);
  int min_rounds = 5;
  int max_rounds = 25;
  // How much less time than the first sibling another must take to be chosen: a
  // few percent is what two runs of the same kernel differ by.
  double clear_win = 0.05;
};

// How the tuner works. The first three are flags of the daemon.
// Threading and ownership: a plain value, fixed at start.
struct TunerOptions {
  bool is_on = false;
  std::string directory;          // of what is remembered; empty: nothing is
  int64_t seconds_per_hour = 60;  // of a device's time, over all devices

  // A compiled graph is looked at once it was used so often, and of its nodes
  // those that are estimated to take that long.
  uint64_t min_uses = 16;
  absl::Duration min_estimate = absl::Microseconds(10);
  // How often it looks for one.
  absl::Duration interval = absl::Seconds(1);
  // A device that does not finish a launch within this is not tuned any more.
  absl::Duration launch_timeout = absl::Seconds(10);
  // A trial whose device is not idle for so long gives its memory back; its
  // graph's turn comes again once that was used min_uses times more.
  absl::Duration idle_timeout = absl::Seconds(5);
  // Beside processes that keep every core busy, such a thread hardly runs.
  bool has_lowest_priority = true;
  TrialLimits trial;
};

// What came of it so far. Only grows, but for `remembered`, which is exact.
struct TuningStats {
  bool is_on = false;
  uint64_t faster = 0;         // sites where another sibling than the first won
  uint64_t kept = 0;           // where the first stayed
  uint64_t skipped = 0;        // that cannot be measured
  uint64_t failed = 0;         // whose device or kernel failed
  uint64_t disagreements = 0;  // siblings beyond the tolerance
  absl::Duration spent;
  uint64_t remembered = 0;  // sites, what was read from files included
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_TUNE_TUNER_OPTIONS_H_
