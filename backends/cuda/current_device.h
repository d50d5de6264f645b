#ifndef TENSORD_BACKENDS_CUDA_CURRENT_DEVICE_H_
#define TENSORD_BACKENDS_CUDA_CURRENT_DEVICE_H_

#include <cuda_runtime_api.h>

namespace tensord::cuda {

// Makes a GPU the one that the runtime's calls of this thread are about, by its
// number in the runtime. The backend changes it nowhere else, so a thread that
// stays with one GPU pays a comparison.
cudaError_t MakeCurrent(int gpu);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_CURRENT_DEVICE_H_
