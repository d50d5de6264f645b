#include "backends/cpu/kernels/vector_bfloat16.h"

#include "backends/cpu/kernels/vector_targets.h"

namespace tensord {
namespace {

namespace any_machine {
#include "backends/cpu/kernels/vector_bfloat16_loops.inc"
}  // namespace any_machine
#if TENSORD_HAVE_VECTOR_TARGETS
TENSORD_BEGIN_AVX2
namespace avx2 {
#include "backends/cpu/kernels/vector_bfloat16_loops.inc"
}  // namespace avx2
TENSORD_END_TARGET
TENSORD_BEGIN_AVX512
namespace avx512 {
#include "backends/cpu/kernels/vector_bfloat16_loops.inc"
}  // namespace avx512
TENSORD_END_TARGET
#endif

}  // namespace

void RoundToBFloat16(const float* x, int64_t count, BFloat16* y) {
  TENSORD_FOR_THIS_MACHINE(Round)(x, count, y);
}

}  // namespace tensord
