#ifndef TENSORD_SERVER_RPC_DEVICE_NAMES_H_
#define TENSORD_SERVER_RPC_DEVICE_NAMES_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/engine.h"
#include "engine/pool/device_wish.h"

namespace tensord {

// A device as clients name it: "cuda:0"; or a backend, "cuda", which is any of
// its devices; or nothing, which is the daemon's choice.
//
// Threading: thread-safe. Errors: kNotFound when there is no such device here.
absl::StatusOr<DeviceWish> FindDevice(const Engine& engine,
                                      absl::string_view name);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_DEVICE_NAMES_H_
