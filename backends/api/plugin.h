#ifndef TENSORD_BACKENDS_API_PLUGIN_H_
#define TENSORD_BACKENDS_API_PLUGIN_H_

#include <memory>

#include "backends/api/backend.h"
#include "backends/api/host_services.h"

namespace tensord {

// What a backend's shared library exports: one function of C, by this name,
// that returns the address of one of these.
//
// Threading and ownership: constant data of the library, which is never closed.
struct BackendPlugin {
  // BuildId() of the library, to be compared before anything else here is used:
  // C++ types cross this border only where it is equal on both sides.
  const char* build_id;

  // Never null. A backend without devices is one: it says why.
  std::unique_ptr<Backend> (*make)(const HostServices& services);
};

inline constexpr char kBackendPluginSymbol[] = "tensord_backend_plugin";
using BackendPluginFunction = const BackendPlugin* (*)();

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_PLUGIN_H_
