#ifndef TENSORD_SERVER_PLUGINS_BACKEND_PLUGIN_H_
#define TENSORD_SERVER_PLUGINS_BACKEND_PLUGIN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/api/backend.h"
#include "backends/api/host_services.h"

namespace tensord {

// The backend of the shared library at `path`, which stays open for good: the
// code of its kernels and types may be in use until the process ends.
//
// Threading: one thread, at start. Ownership: the caller's; `services` outlive
//   the backend.
// Errors: kNotFound without a file; kFailedPrecondition for one that cannot be
//   opened, exports no backend, or is of another build than the caller.
absl::StatusOr<std::unique_ptr<Backend>> OpenBackendPlugin(
    const std::string& path, const HostServices& services);

// Where the library of a backend is: "DIR/libtensord_NAME.so", with an empty
// directory the one of this program.
std::string BackendPluginPath(absl::string_view directory,
                              absl::string_view backend_name);

}  // namespace tensord

#endif  // TENSORD_SERVER_PLUGINS_BACKEND_PLUGIN_H_
