#ifndef TENSORD_BACKENDS_CUDA_KERNELS_OPERAND_ADDRESS_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_OPERAND_ADDRESS_H_

#include <cstddef>

#include "backends/api/kernel.h"

namespace tensord::cuda {

// The first element of an operand whose elements have so many bytes.
inline const std::byte* SourceOf(const KernelCall& call, int i, int bytes) {
  return call.inputs[i].address() + call.input_layout(i).offset * bytes;
}
inline std::byte* DestinationOf(const KernelCall& call, int i, int bytes) {
  return call.outputs[i].address() + call.output_layout(i).offset * bytes;
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_OPERAND_ADDRESS_H_
