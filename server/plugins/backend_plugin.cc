#include "server/plugins/backend_plugin.h"

#include <dlfcn.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "backends/api/plugin.h"
#include "backends/api/revisions.h"

namespace tensord {
namespace {

std::string DirectoryOfThisProgram() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  if (size <= 0) return ".";
  const absl::string_view program(path, size);
  return std::string(program.substr(0, program.rfind('/')));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Backend>> OpenBackendPlugin(
    const std::string& path, const HostServices& services) {
  if (access(path.c_str(), F_OK) != 0) {
    return absl::NotFoundError(absl::StrCat("there is no ", path));
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    // The loader names the file in its text.
    return absl::FailedPreconditionError(dlerror());
  }
  const auto function = reinterpret_cast<BackendPluginFunction>(
      dlsym(library, kBackendPluginSymbol));
  if (function == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " has no ", kBackendPluginSymbol));
  }
  const BackendPlugin& plugin = *function();
  if (plugin.build_id != BuildId()) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is of build ", plugin.build_id,
                     ", and this program of build ", BuildId()));
  }
  return plugin.make(services);
}

std::string BackendPluginPath(absl::string_view directory,
                              absl::string_view backend_name) {
  return absl::StrCat(
      directory.empty() ? DirectoryOfThisProgram() : std::string(directory),
      "/libtensord_", backend_name, ".so");
}

}  // namespace tensord
