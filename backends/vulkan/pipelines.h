#ifndef TENSORD_BACKENDS_VULKAN_PIPELINES_H_
#define TENSORD_BACKENDS_VULKAN_PIPELINES_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "backends/vulkan/device_fault.h"
#include "backends/vulkan/shader_code.h"
#include "backends/vulkan/vulkan_api.h"

namespace tensord::vulkan {

// Values of a shader's specialisation constants, by id from 0.
using ShaderConstants = absl::InlinedVector<uint32_t, 12>;

// The pipelines of one device: each shader with each set of constants that is
// used, made once. All have the same layout: push constants and no more, since
// operands are named by their addresses.
//
// Threading: thread-safe; two threads that miss the same one make it twice, and
//   one is dropped.
// Ownership: the device's; nothing of it is in use when it dies.
class Pipelines {
 public:
  // What every Vulkan device takes at least.
  static constexpr uint32_t kPushConstantBytes = 128;

  static absl::StatusOr<std::unique_ptr<Pipelines>> Create(const VulkanApi& api,
                                                           VkDevice device,
                                                           DeviceFault& fault);
  ~Pipelines();

  VkPipelineLayout layout() const { return layout_; }

  absl::StatusOr<VkPipeline> Get(const ShaderCode& shader,
                                 absl::Span<const uint32_t> constants);

 private:
  using Key = std::pair<const ShaderCode*, ShaderConstants>;

  Pipelines(const VulkanApi& api, VkDevice device, DeviceFault& fault)
      : api_(api), device_(device), fault_(fault) {}
  absl::StatusOr<VkPipeline> Make(const ShaderCode& shader,
                                  absl::Span<const uint32_t> constants) const;

  const VulkanApi& api_;
  const VkDevice device_;
  DeviceFault& fault_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  absl::Mutex mu_;
  absl::flat_hash_map<Key, VkPipeline> made_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_PIPELINES_H_
