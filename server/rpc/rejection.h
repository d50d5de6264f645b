#ifndef TENSORD_SERVER_RPC_REJECTION_H_
#define TENSORD_SERVER_RPC_REJECTION_H_

#include <optional>

#include "absl/status/status.h"
#include "server/metrics/execution_metrics.h"

namespace tensord {

// Under which reason a refusal counts in tensord_rejections_total; nothing for
// a status that is none (the request was wrong, or ran and failed).
//
// Threading and ownership: pure.
std::optional<metrics::RejectionReason> RejectionOf(const absl::Status& status);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_REJECTION_H_
