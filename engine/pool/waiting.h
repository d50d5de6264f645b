#ifndef TENSORD_ENGINE_POOL_WAITING_H_
#define TENSORD_ENGINE_POOL_WAITING_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/exec/execution.h"

namespace tensord {

// What rooms where executions wait have in common: how long they may.
//
// Threading and ownership: pure; the execution is the caller's.

// Before it is put into a room. Its time begins with the first one.
void BeginWaiting(Execution& execution, absl::Duration max_queue_time);

// Why it need not be run any more at `now`, if so: kCancelled, or
// kDeadlineExceeded with the limit that has passed. `what` is what it waits
// for ("a lane of device cpu:0").
absl::Status CheckStillWanted(const Execution& execution, absl::Time now,
                              absl::string_view what,
                              absl::Duration max_queue_time);

}  // namespace tensord

#endif  // TENSORD_ENGINE_POOL_WAITING_H_
