#include "server/rpc/rejection.h"

#include <array>
#include <utility>

#include "absl/strings/string_view.h"
#include "engine/limit_exceeded.h"

namespace tensord {
namespace {

using metrics::RejectionReason;

constexpr std::array<std::pair<absl::string_view, RejectionReason>, 6>
    kByLimit = {{{"max_queue_length", RejectionReason::kQueueFull},
                 {"max_queued_bytes", RejectionReason::kQueueBytes},
                 {"max_peak_bytes", RejectionReason::kMemory},
                 {"device_memory_bytes", RejectionReason::kMemory},
                 {"max_message_bytes", RejectionReason::kMessageSize},
                 {"max_upload_bytes", RejectionReason::kMessageSize}}};

}  // namespace

std::optional<RejectionReason> RejectionOf(const absl::Status& status) {
  const std::optional<LimitDetails> limit = LimitDetails::FromStatus(status);
  if (!limit.has_value()) return std::nullopt;
  for (const auto& [name, reason] : kByLimit) {
    if (name == limit->limit) return reason;
  }
  return RejectionReason::kLimit;
}

}  // namespace tensord
