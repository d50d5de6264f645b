#include "backends/vulkan/pipelines.h"

#include "absl/memory/memory.h"

namespace tensord::vulkan {

absl::StatusOr<std::unique_ptr<Pipelines>> Pipelines::Create(
    const VulkanApi& api, VkDevice device, DeviceFault& fault) {
  std::unique_ptr<Pipelines> made =
      absl::WrapUnique(new Pipelines(api, device, fault));
  const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                     kPushConstantBytes};
  const VkPipelineLayoutCreateInfo layout = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
      .pushConstantRangeCount = 1,
      .pPushConstantRanges = &range};
  absl::Status status = fault.Check(
      api.CreatePipelineLayout(device, &layout, nullptr, &made->layout_),
      "vkCreatePipelineLayout");
  const VkPipelineCacheCreateInfo cache = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  if (status.ok()) {
    status = fault.Check(
        api.CreatePipelineCache(device, &cache, nullptr, &made->cache_),
        "vkCreatePipelineCache");
  }
  if (!status.ok()) return status;
  return made;
}

Pipelines::~Pipelines() {
  {
    absl::MutexLock lock(&mu_);
    for (const auto& [key, pipeline] : made_) {
      api_.DestroyPipeline(device_, pipeline, nullptr);
    }
  }
  if (cache_ != VK_NULL_HANDLE) {
    api_.DestroyPipelineCache(device_, cache_, nullptr);
  }
  if (layout_ != VK_NULL_HANDLE) {
    api_.DestroyPipelineLayout(device_, layout_, nullptr);
  }
}

absl::StatusOr<VkPipeline> Pipelines::Get(
    const ShaderCode& shader, absl::Span<const uint32_t> constants) {
  const Key key(&shader, ShaderConstants(constants.begin(), constants.end()));
  {
    absl::ReaderMutexLock lock(&mu_);
    if (auto it = made_.find(key); it != made_.end()) return it->second;
  }
  absl::StatusOr<VkPipeline> pipeline = Make(shader, constants);
  if (!pipeline.ok()) return pipeline.status();
  absl::MutexLock lock(&mu_);
  const auto [it, is_new] = made_.emplace(key, *pipeline);
  if (!is_new) api_.DestroyPipeline(device_, *pipeline, nullptr);
  return it->second;
}

absl::StatusOr<VkPipeline> Pipelines::Make(
    const ShaderCode& shader, absl::Span<const uint32_t> constants) const {
  const VkShaderModuleCreateInfo module_info = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
      .codeSize = shader.size_bytes,
      .pCode = shader.words};
  VkShaderModule module = VK_NULL_HANDLE;
  absl::Status status = fault_.Check(
      api_.CreateShaderModule(device_, &module_info, nullptr, &module),
      "vkCreateShaderModule");
  if (!status.ok()) return status;
  absl::InlinedVector<VkSpecializationMapEntry, 12> entries;
  for (uint32_t id = 0; id < constants.size(); ++id) {
    entries.push_back(
        {id, id * static_cast<uint32_t>(sizeof(uint32_t)), sizeof(uint32_t)});
  }
  const VkSpecializationInfo specialization = {
      .mapEntryCount = static_cast<uint32_t>(entries.size()),
      .pMapEntries = entries.data(),
      .dataSize = constants.size() * sizeof(uint32_t),
      .pData = constants.data()};
  const VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = "main",
                .pSpecializationInfo = &specialization},
      .layout = layout_};
  VkPipeline pipeline = VK_NULL_HANDLE;
  status = fault_.Check(api_.CreateComputePipelines(device_, cache_, 1, &info,
                                                    nullptr, &pipeline),
                        "vkCreateComputePipelines");
  api_.DestroyShaderModule(device_, module, nullptr);
  if (!status.ok()) return status;
  return pipeline;
}

}  // namespace tensord::vulkan
