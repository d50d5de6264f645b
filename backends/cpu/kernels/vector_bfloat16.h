#ifndef TENSORD_BACKENDS_CPU_KERNELS_VECTOR_BFLOAT16_H_
#define TENSORD_BACKENDS_CPU_KERNELS_VECTOR_BFLOAT16_H_

#include <cstdint>

#include "backends/api/float16.h"

namespace tensord {

// y[i] = x[i] as BFloat16 has it: rounded to nearest, of two the even one, too
// large numbers to infinity; a NaN stays one. In this machine's vectors. The
// two do not overlap.
void RoundToBFloat16(const float* x, int64_t count, BFloat16* y);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_VECTOR_BFLOAT16_H_
