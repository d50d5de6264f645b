#include "backends/vulkan/vulkan_instance.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/vulkan/vulkan_status.h"

namespace tensord::vulkan {
namespace {

VKAPI_ATTR VkBool32 VKAPI_CALL
Hear(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
     const VkDebugUtilsMessengerCallbackDataEXT* data, void* listener) {
  (*static_cast<const ValidationListener*>(listener))(data->pMessage);
  return VK_FALSE;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const VulkanInstance>> VulkanInstance::Create(
    PFN_vkGetInstanceProcAddr loader, ValidationListener listener) {
  if (loader == nullptr) {
    return absl::UnavailableError("no Vulkan loader (libvulkan.so.1)");
  }
  std::shared_ptr<VulkanInstance> made(new VulkanInstance(std::move(listener)));
  absl::Status status = made->Connect(loader);
  if (status.ok() && made->listener_ != nullptr) status = made->AddListener();
  if (status.ok()) status = made->FindDevices();
  if (!status.ok()) return status;
  return made;
}

absl::Status VulkanInstance::Connect(PFN_vkGetInstanceProcAddr loader) {
  absl::StatusOr<VulkanApi> global = LoadGlobal(loader);
  if (!global.ok()) return global.status();
  const VkApplicationInfo application = {
      .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
      .pApplicationName = "tensord",
      .apiVersion = VK_API_VERSION_1_2};
  const char* const layers[] = {"VK_LAYER_KHRONOS_validation"};
  const char* const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
  const uint32_t count = listener_ != nullptr ? 1 : 0;
  const VkInstanceCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
      .pApplicationInfo = &application,
      .enabledLayerCount = count,
      .ppEnabledLayerNames = layers,
      .enabledExtensionCount = count,
      .ppEnabledExtensionNames = extensions};
  const VkResult result = global->CreateInstance(&info, nullptr, &instance_);
  if (result != VK_SUCCESS) {
    instance_ = nullptr;
    return absl::UnavailableError(
        result == VK_ERROR_INCOMPATIBLE_DRIVER
            ? "no Vulkan driver"
            : VulkanStatus(result, "vkCreateInstance").message());
  }
  absl::StatusOr<VulkanApi> api = LoadInstance(*global, instance_);
  if (!api.ok()) return api.status();
  api_ = *api;
  return absl::OkStatus();
}

// The messenger that a creation's own chain may name hears of that call alone.
absl::Status VulkanInstance::AddListener() {
  const auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
      api_.GetInstanceProcAddr(instance_, "vkCreateDebugUtilsMessengerEXT"));
  if (create == nullptr) {
    return absl::UnavailableError("the driver has no debug messenger");
  }
  const VkDebugUtilsMessengerCreateInfoEXT info = {
      .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
      .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
      .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
      .pfnUserCallback = &Hear,
      .pUserData = const_cast<ValidationListener*>(&listener_)};
  return VulkanStatus(create(instance_, &info, nullptr, &messenger_),
                      "vkCreateDebugUtilsMessengerEXT");
}

absl::Status VulkanInstance::FindDevices() {
  uint32_t count = 0;
  absl::Status status =
      VulkanStatus(api_.EnumeratePhysicalDevices(instance_, &count, nullptr),
                   "vkEnumeratePhysicalDevices");
  std::vector<VkPhysicalDevice> handles(count);
  if (status.ok()) {
    status = VulkanStatus(
        api_.EnumeratePhysicalDevices(instance_, &count, handles.data()),
        "vkEnumeratePhysicalDevices");
  }
  if (!status.ok()) return status;
  handles.resize(count);
  std::vector<PhysicalDevice> found;
  for (VkPhysicalDevice handle : handles) {
    absl::StatusOr<PhysicalDevice> gpu = InspectDevice(api_, handle);
    if (gpu.ok()) {
      found.push_back(*std::move(gpu));
    } else {
      refused_.emplace_back(gpu.status().message());
    }
  }
  devices_ = ChooseDevices(std::move(found));
  return absl::OkStatus();
}

VulkanInstance::~VulkanInstance() {
  if (messenger_ != VK_NULL_HANDLE) {
    const auto destroy = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        api_.GetInstanceProcAddr(instance_, "vkDestroyDebugUtilsMessengerEXT"));
    destroy(instance_, messenger_, nullptr);
  }
  if (instance_ != nullptr && api_.DestroyInstance != nullptr) {
    api_.DestroyInstance(instance_, nullptr);
  }
}

}  // namespace tensord::vulkan
