#ifndef TENSORD_BACKENDS_VULKAN_SHADER_CODE_H_
#define TENSORD_BACKENDS_VULKAN_SHADER_CODE_H_

#include <cstddef>
#include <cstdint>

namespace tensord::vulkan {

// A compute shader as the build compiled it; "vulkan/shader_codes.h", which is
// generated, declares one for each shaders/NAME.comp, as shaders::kNAME.
// Constant data of the library.
struct ShaderCode {
  const char* name;
  const uint32_t* words;  // SPIR-V
  size_t size_bytes;
};

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_SHADER_CODE_H_
