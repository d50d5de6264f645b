// A plugin, or what is not quite one: the definitions say which.

#include "backends/api/plugin.h"
#include "backends/api/revisions.h"
#include "backends/null/null_backend.h"

#if !TEST_PLUGIN_NO_SYMBOL
namespace {

std::unique_ptr<tensord::Backend> Make(const tensord::HostServices& services) {
  return tensord::MakeNullBackend(services);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const tensord::BackendPlugin*
tensord_backend_plugin() {
#if TEST_PLUGIN_OTHER_BUILD
  static const tensord::BackendPlugin plugin = {"0123456789abcdef", &Make};
#else
  static const tensord::BackendPlugin plugin = {tensord::BuildId().data(),
                                                &Make};
#endif
  return &plugin;
}
#endif
