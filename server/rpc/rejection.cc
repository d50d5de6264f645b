#include "server/rpc/rejection.h"

#include <array>
#include <utility>

#include "absl/strings/string_view.h"
#include "engine/limit_exceeded.h"
#include "engine/pool/execution_queue.h"

namespace tensord {
namespace {

using metrics::RejectionReason;

constexpr std::array<std::pair<absl::string_view, RejectionReason>, 11>
    kByLimit = {{{"max_queue_length", RejectionReason::kQueueFull},
                 {"max_queued_bytes", RejectionReason::kQueueBytes},
                 {"max_peak_bytes", RejectionReason::kMemory},
                 {"device_memory_bytes", RejectionReason::kMemory},
                 {"max_message_bytes", RejectionReason::kMessageSize},
                 {"max_upload_bytes", RejectionReason::kMessageSize},
                 {"max_sessions", RejectionReason::kQuota},
                 {"max_session_executions", RejectionReason::kQuota},
                 {"max_session_bytes", RejectionReason::kQuota},
                 {"max_session_requests", RejectionReason::kQuota},
                 {"max_resident_bytes", RejectionReason::kQuota}}};

}  // namespace

std::optional<RejectionReason> RejectionOf(const absl::Status& status) {
  const std::optional<LimitDetails> limit = LimitDetails::FromStatus(status);
  if (!limit.has_value()) return std::nullopt;
  if (limit->subject == kSessionShare) return RejectionReason::kQuota;
  for (const auto& [name, reason] : kByLimit) {
    if (name == limit->limit) return reason;
  }
  return RejectionReason::kLimit;
}

}  // namespace tensord
