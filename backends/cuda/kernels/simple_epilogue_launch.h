#ifndef TENSORD_BACKENDS_CUDA_KERNELS_SIMPLE_EPILOGUE_LAUNCH_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_SIMPLE_EPILOGUE_LAUNCH_H_

#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/dtype.h"
#include "backends/api/launch_context.h"
#include "backends/cuda/kernels/simple_epilogue.h"

namespace tensord::cuda {

// What a library did not do behind a product or a convolution, in place:
//
//   y[i] = activation(y[i] + addend[i] + bias[i / inner % channels])
//
// Sums are float32 and rounded once. Threading and ownership: a plain value;
// addresses are the device's.
struct SimpleEpilogueCall {
  DType dtype = DType::kFloat32;  // float32, float16, bfloat16
  int64_t count = 0;              // elements of y
  int64_t channels = 1;
  int64_t inner = 1;             // 1 where the channels are last
  const void* bias = nullptr;    // null: none
  const void* addend = nullptr;  // null: none
  void* y = nullptr;
  Activation activation = Activation::kNone;
  float low = 0, high = 0;  // kClip's
};

absl::Status LaunchSimpleEpilogue(const LaunchContext& context,
                                  const SimpleEpilogueCall& call);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_SIMPLE_EPILOGUE_LAUNCH_H_
