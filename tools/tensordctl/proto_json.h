#ifndef TENSORD_TOOLS_TENSORDCTL_PROTO_JSON_H_
#define TENSORD_TOOLS_TENSORDCTL_PROTO_JSON_H_

#include <google/protobuf/message.h>

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tensord::ctl {

// A message as --json shows it: its fields under their names, in their order,
// with defaults filled in and absent optional fields left out.
//
// Protobuf's own JSON mapping is not used since it writes 64-bit integers as
// strings, which jq and its like do not count with. Enum values keep their
// names, times are RFC 3339, durations are seconds, a Tensor's data are nested
// lists, other bytes are hexadecimal.
nlohmann::ordered_json JsonOfMessage(const google::protobuf::Message& message);

// On one line; what is not UTF-8 becomes U+FFFD rather than an exception.
std::string JsonText(const nlohmann::ordered_json& json);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_PROTO_JSON_H_
