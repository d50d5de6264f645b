#ifndef TENSORD_SERVER_METRICS_EXECUTION_METRICS_H_
#define TENSORD_SERVER_METRICS_EXECUTION_METRICS_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "engine/profile/striped_counters.h"
#include "server/metrics/page.h"

namespace tensord::metrics {

// How an execution ended: the final ones of its states.
enum class ExecutionOutcome : uint8_t {
  kSucceeded,
  kFailed,
  kCancelled,
  kExpired,
};
inline constexpr size_t kExecutionOutcomeCount = 4;

// Why a request was refused before it ran.
enum class RejectionReason : uint8_t {
  kQueueFull,     // as many as may wait for the device already do
  kQueueBytes,    // so do as many bytes
  kQueueTimeout,  // its deadline passed while it waited
  kMemory,        // its peak bytes do not fit the device or the limit
  kQuota,         // its session's or principal's share is used up
  kMessageSize,   // it is larger than a message or an upload may be
  kLimit,         // another limit of the configuration
  kDraining,      // the daemon or the device takes nothing new
  kNoDevice,      // no device of the wanted kind is up
};
inline constexpr size_t kRejectionReasonCount = 9;

// "succeeded", "queue_full": the values of the labels `state` and `reason`.
absl::string_view ExecutionOutcomeName(ExecutionOutcome outcome);
absl::string_view RejectionReasonName(RejectionReason reason);

// How executions end and why requests are refused.
//
// Threading: thread-safe and lock-free.
class ExecutionMetrics {
 public:
  ExecutionMetrics()
      : outcomes_(kExecutionOutcomeCount), rejections_(kRejectionReasonCount) {}

  void RecordOutcome(ExecutionOutcome outcome) {
    outcomes_.Add(static_cast<size_t>(outcome), 1);
  }
  void RecordRejection(RejectionReason reason) {
    rejections_.Add(static_cast<size_t>(reason), 1);
  }

  uint64_t count(ExecutionOutcome outcome) const {
    return outcomes_.Read(static_cast<size_t>(outcome));
  }

  // All of the closed lists, also at 0: an alert on a rate needs the 0 before
  // the first.
  void Collect(Page& page) const;

 private:
  op_profile::StripedCounters outcomes_;
  op_profile::StripedCounters rejections_;
};

}  // namespace tensord::metrics

#endif  // TENSORD_SERVER_METRICS_EXECUTION_METRICS_H_
