#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_OPERAND_ADDRESS_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_OPERAND_ADDRESS_H_

#include <cstddef>
#include <cstdint>

#include "backends/api/kernel.h"

namespace tensord::cuda {

// The device address of an operand's first element, the layout's offset
// counted, for libraries, which take addresses without types. Null for an
// absent operand, and for input -1.
inline const std::byte* InputAddress(const KernelCall& call, int input,
                                     int64_t element_bytes) {
  if (input < 0 || !call.has_input(input)) return nullptr;
  return call.inputs[input].address() +
         call.input_layout(input).offset * element_bytes;
}
inline std::byte* OutputAddress(const KernelCall& call, int output,
                                int64_t element_bytes) {
  return call.outputs[output].address() +
         call.output_layout(output).offset * element_bytes;
}

// Scratch memory as libraries want it, at a multiple of 256 bytes; slots of the
// arena are aligned to less. What a row asks for has kWorkspaceSlack bytes more
// than what it uses.
inline constexpr uint64_t kWorkspaceAlignment = 256;
inline constexpr uint64_t kWorkspaceSlack =
    kWorkspaceAlignment - kStorageAlignment;
inline std::byte* WorkspaceAddress(const KernelCall& call) {
  std::byte* const address = call.context.workspace.address();
  const auto at = reinterpret_cast<uintptr_t>(address);
  return address +
         (kWorkspaceAlignment - at % kWorkspaceAlignment) % kWorkspaceAlignment;
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_OPERAND_ADDRESS_H_
