#ifndef TENSORD_CLIENTS_CPP_DURATIONS_H_
#define TENSORD_CLIENTS_CPP_DURATIONS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

namespace tensord {

inline absl::Duration FromProto(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) +
         absl::Nanoseconds(duration.nanos());
}

inline absl::Time FromProto(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) +
         absl::Nanoseconds(time.nanos());
}

inline google::protobuf::Duration ToProto(absl::Duration duration) {
  google::protobuf::Duration proto;
  proto.set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &duration));
  proto.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(duration)));
  return proto;
}

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_DURATIONS_H_
