#include "backends/cpu/kernels/vector_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/kernels/vector_math.h"
#include "backends/cpu/kernels/vector_targets.h"

namespace tensord {
namespace {

constexpr int64_t kBlock = 512;

namespace any_machine {
#include "backends/cpu/kernels/vector_softmax_loops.inc"
}  // namespace any_machine
#if TENSORD_HAVE_VECTOR_TARGETS
TENSORD_BEGIN_AVX2
namespace avx2 {
#include "backends/cpu/kernels/vector_softmax_loops.inc"
}  // namespace avx2
TENSORD_END_TARGET
TENSORD_BEGIN_AVX512
namespace avx512 {
#include "backends/cpu/kernels/vector_softmax_loops.inc"
}  // namespace avx512
TENSORD_END_TARGET
#endif

}  // namespace

void VectorSoftmax(const float* x, float* y, int64_t columns) {
  TENSORD_FOR_THIS_MACHINE(Softmax)(x, y, columns);
}

void VectorLogSoftmax(const float* x, float* y, int64_t columns) {
  TENSORD_FOR_THIS_MACHINE(LogSoftmax)(x, y, columns);
}

}  // namespace tensord
