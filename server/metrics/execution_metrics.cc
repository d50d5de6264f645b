#include "server/metrics/execution_metrics.h"

namespace tensord::metrics {

absl::string_view ExecutionOutcomeName(ExecutionOutcome outcome) {
  switch (outcome) {
    case ExecutionOutcome::kSucceeded:
      return "succeeded";
    case ExecutionOutcome::kFailed:
      return "failed";
    case ExecutionOutcome::kCancelled:
      return "cancelled";
    case ExecutionOutcome::kExpired:
      return "expired";
  }
  return "other";
}

absl::string_view RejectionReasonName(RejectionReason reason) {
  switch (reason) {
    case RejectionReason::kQueueFull:
      return "queue_full";
    case RejectionReason::kQueueBytes:
      return "queue_bytes";
    case RejectionReason::kQueueTimeout:
      return "queue_timeout";
    case RejectionReason::kMemory:
      return "memory";
    case RejectionReason::kQuota:
      return "quota";
    case RejectionReason::kMessageSize:
      return "message_size";
    case RejectionReason::kLimit:
      return "limit";
    case RejectionReason::kDraining:
      return "draining";
    case RejectionReason::kNoDevice:
      return "no_device";
  }
  return "other";
}

void ExecutionMetrics::Collect(Page& page) const {
  for (size_t i = 0; i < kExecutionOutcomeCount; ++i) {
    page.Add(MetricId::kExecutions,
             {ExecutionOutcomeName(static_cast<ExecutionOutcome>(i))},
             static_cast<double>(outcomes_.Read(i)));
  }
  for (size_t i = 0; i < kRejectionReasonCount; ++i) {
    page.Add(MetricId::kRejections,
             {RejectionReasonName(static_cast<RejectionReason>(i))},
             static_cast<double>(rejections_.Read(i)));
  }
}

}  // namespace tensord::metrics
