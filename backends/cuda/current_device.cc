#include "backends/cuda/current_device.h"

namespace tensord::cuda {

cudaError_t MakeCurrent(int gpu) {
  thread_local int current = -1;
  if (current == gpu) return cudaSuccess;
  const cudaError_t error = cudaSetDevice(gpu);
  if (error == cudaSuccess) current = gpu;
  return error;
}

}  // namespace tensord::cuda
