#ifndef TENSORD_BACKENDS_CUDA_STREAM_OF_H_
#define TENSORD_BACKENDS_CUDA_STREAM_OF_H_

#include <cuda_runtime_api.h>

#include "backends/api/launch_context.h"

namespace tensord::cuda {

// The stream of a CUDA lane; its device is current on the calling thread while
// a kernel's `run` is called.
cudaStream_t StreamOf(const LaunchContext& context);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_STREAM_OF_H_
