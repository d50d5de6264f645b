#include "backends/vulkan/vulkan_api.h"

#include <dlfcn.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tensord::vulkan {
namespace {

absl::Status Missing(absl::string_view function) {
  return absl::UnavailableError(
      absl::StrCat("the Vulkan driver lacks vk", function));
}

}  // namespace

PFN_vkGetInstanceProcAddr SystemLoader() {
  void* const library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  return reinterpret_cast<PFN_vkGetInstanceProcAddr>(
      dlsym(library, "vkGetInstanceProcAddr"));
}

#define TENSORD_VULKAN_LOAD(name)                                     \
  api.name = reinterpret_cast<PFN_vk##name>(get(parent, "vk" #name)); \
  if (api.name == nullptr) return Missing(#name);

absl::StatusOr<VulkanApi> LoadGlobal(PFN_vkGetInstanceProcAddr loader) {
  VulkanApi api;
  api.GetInstanceProcAddr = loader;
  const PFN_vkGetInstanceProcAddr get = loader;
  const VkInstance parent = nullptr;
  TENSORD_VULKAN_GLOBAL(TENSORD_VULKAN_LOAD)
  return api;
}

absl::StatusOr<VulkanApi> LoadInstance(VulkanApi api, VkInstance parent) {
  const PFN_vkGetInstanceProcAddr get = api.GetInstanceProcAddr;
  TENSORD_VULKAN_INSTANCE(TENSORD_VULKAN_LOAD)
  return api;
}

absl::StatusOr<VulkanApi> LoadDevice(VulkanApi api, VkDevice parent) {
  const PFN_vkGetDeviceProcAddr get = api.GetDeviceProcAddr;
  TENSORD_VULKAN_DEVICE(TENSORD_VULKAN_LOAD)
  return api;
}

#undef TENSORD_VULKAN_LOAD

}  // namespace tensord::vulkan
