// The one symbol of libtensord_vulkan.so.

#include "backends/api/plugin.h"

#include "backends/api/revisions.h"
#include "backends/vulkan/vulkan_backend.h"

namespace {

std::unique_ptr<tensord::Backend> Make(const tensord::HostServices& services) {
  return tensord::vulkan::MakeVulkanBackend(services);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const tensord::BackendPlugin*
tensord_backend_plugin() {
  // The id is a literal, so it ends with a null.
  static const tensord::BackendPlugin plugin = {tensord::BuildId().data(),
                                                &Make};
  return &plugin;
}
