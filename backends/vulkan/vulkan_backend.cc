#include "backends/vulkan/vulkan_backend.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/vulkan/kernel_revisions.h"
#include "backends/vulkan/kernel_table.h"
#include "backends/vulkan/vulkan_device.h"

namespace tensord::vulkan {
namespace {

class VulkanBackend final : public Backend {
 public:
  explicit VulkanBackend(const VulkanOptions& options)
      : memory_limit_bytes_(options.memory_limit_bytes),
        journal_(options.journal) {
    const PFN_vkGetInstanceProcAddr loader =
        options.loader != nullptr ? options.loader : SystemLoader();
    auto instance = VulkanInstance::Create(loader, options.validation);
    if (!instance.ok()) {
      why_none_ = std::string(instance.status().message());
      return;
    }
    instance_ = *std::move(instance);
    if (!instance_->devices().empty()) return;
    why_none_ = instance_->refused().empty()
                    ? "a Vulkan driver, but no device"
                    : absl::StrJoin(instance_->refused(), "; ");
  }

  BackendId id() const override { return BackendId::kVulkan; }
  absl::Span<const KernelEntry> kernels() const override {
    return VulkanKernels();
  }
  uint64_t KernelRevision(absl::string_view source) const override {
    return VulkanKernelRevision(source);
  }
  int device_count() const override {
    return instance_ == nullptr ? 0
                                : static_cast<int>(instance_->devices().size());
  }
  std::string why_none() const override { return why_none_; }

  absl::StatusOr<std::unique_ptr<Device>> OpenDevice(int ordinal) override {
    if (ordinal < 0 || ordinal >= device_count()) {
      return absl::NotFoundError(absl::StrCat(
          "device vulkan:", ordinal, " is none of ", device_count(),
          why_none_.empty() ? "" : ": ", why_none_));
    }
    auto device = VulkanDevice::Open(
        instance_, instance_->devices()[ordinal],
        DeviceId{BackendId::kVulkan, static_cast<uint16_t>(ordinal)},
        memory_limit_bytes_, journal_);
    if (!device.ok()) return device.status();
    return *std::move(device);
  }

 private:
  const uint64_t memory_limit_bytes_;
  CommandJournal* const journal_;
  std::shared_ptr<const VulkanInstance> instance_;
  std::string why_none_;
};

}  // namespace

std::unique_ptr<Backend> MakeVulkanBackend(const HostServices&,
                                           const VulkanOptions& options) {
  return std::make_unique<VulkanBackend>(options);
}

}  // namespace tensord::vulkan
