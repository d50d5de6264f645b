#ifndef TENSORD_SERVER_PROCESS_PORT_FILE_H_
#define TENSORD_SERVER_PROCESS_PORT_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace tensord {

// Writes {"grpc": ["127.0.0.1:41234", "unix:/x"], "metrics": "127.0.0.1:41235"}
// to `path`, for scripts that let the daemon find free ports. The file appears
// whole: a reader sees the old one or all of the new one.
//
// Threading: one writer. Errors: kUnavailable with the system's own text.
absl::Status WritePortFile(const std::string& path,
                           const std::vector<std::string>& grpc_addresses,
                           const std::string& metrics_address);

}  // namespace tensord

#endif  // TENSORD_SERVER_PROCESS_PORT_FILE_H_
