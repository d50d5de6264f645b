#include "server/rpc/time_messages.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "server/errors/error_details.h"

namespace tensord {
namespace {

// As duration.proto says: some 10,000 years.
constexpr int64_t kMaxSeconds = 315'576'000'000;

}  // namespace

void FillTime(absl::Time time, google::protobuf::Timestamp& message) {
  const timespec spec = absl::ToTimespec(time);
  message.set_seconds(spec.tv_sec);
  message.set_nanos(static_cast<int32_t>(spec.tv_nsec));
}

void FillDuration(absl::Duration duration,
                  google::protobuf::Duration& message) {
  const timespec spec = absl::ToTimespec(duration);
  message.set_seconds(spec.tv_sec);
  message.set_nanos(static_cast<int32_t>(spec.tv_nsec));
}

absl::StatusOr<absl::Duration> ReadDuration(
    absl::string_view field, const google::protobuf::Duration& message) {
  if (message.seconds() < 0 || message.seconds() > kMaxSeconds ||
      message.nanos() < 0 || message.nanos() >= 1'000'000'000) {
    return BadField(field,
                    absl::StrCat(message.seconds(), " s and ", message.nanos(),
                                 " ns; give 0 or more, with at most "
                                 "999,999,999 ns"));
  }
  return absl::Seconds(message.seconds()) + absl::Nanoseconds(message.nanos());
}

}  // namespace tensord
