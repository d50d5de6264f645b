#ifndef TENSORD_BACKENDS_CUDA_KERNELS_QUANTIZATION_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_QUANTIZATION_H_

#include <math.h>

#include <cstdint>

#include "backends/cuda/kernels/device.h"

namespace tensord::cuda {

// x rounded to the nearest integer, of two the even one, plus the zero point,
// brought to [least, most], which is within 17 bits and has the zero point. A
// NaN gives the zero point.
__device__ inline int32_t QuantizeTo(float x, int32_t zero_point, int32_t least,
                                     int32_t most) {
  const auto low = static_cast<float>(least - zero_point);
  const auto high = static_cast<float>(most - zero_point);
  if (x != x) return zero_point;
  const float inside = x < low ? low : x > high ? high : x;
  return static_cast<int32_t>(nearbyintf(inside)) + zero_point;
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_QUANTIZATION_H_
