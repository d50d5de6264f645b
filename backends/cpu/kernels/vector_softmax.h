#ifndef TENSORD_BACKENDS_CPU_KERNELS_VECTOR_SOFTMAX_H_
#define TENSORD_BACKENDS_CPU_KERNELS_VECTOR_SOFTMAX_H_

#include <cstdint>

// Softmax of one row of float32, in the vectors of this machine. exp() is
// vector_math.h's, relative 1e-7. A row with a NaN, or without a finite
// largest element, becomes NaNs.
//
// Threading and ownership: pure functions; y may be x.
namespace tensord {

// y[c] = exp(x[c] - m) / sum over c of exp(x[c] - m), m = max over c of x[c].
void VectorSoftmax(const float* x, float* y, int64_t columns);

// Its logarithm.
void VectorLogSoftmax(const float* x, float* y, int64_t columns);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_VECTOR_SOFTMAX_H_
