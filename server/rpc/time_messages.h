#ifndef TENSORD_SERVER_RPC_TIME_MESSAGES_H_
#define TENSORD_SERVER_RPC_TIME_MESSAGES_H_

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tensord {

// Times and durations as messages. Threading and ownership: pure.

void FillTime(absl::Time time, google::protobuf::Timestamp& message);
void FillDuration(absl::Duration duration, google::protobuf::Duration& message);

// kInvalidArgument, with `field`, for one that is negative or no duration.
absl::StatusOr<absl::Duration> ReadDuration(
    absl::string_view field, const google::protobuf::Duration& message);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_TIME_MESSAGES_H_
