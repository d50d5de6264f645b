#ifndef TENSORD_SERVER_RPC_DEVICE_NAMES_H_
#define TENSORD_SERVER_RPC_DEVICE_NAMES_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/api/device_id.h"
#include "engine/engine.h"

namespace tensord {

// A device as clients name it: "cuda:0"; or a backend, "cuda", which is its
// least loaded healthy device; or nothing, which is the daemon's choice.
//
// Threading: thread-safe. Errors: kNotFound when there is no such device here.
absl::StatusOr<std::optional<DeviceId>> FindDevice(const Engine& engine,
                                                   absl::string_view name);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_DEVICE_NAMES_H_
