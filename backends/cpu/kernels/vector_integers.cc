#include "backends/cpu/kernels/vector_integers.h"

#include <cstdint>
#include <limits>

#include "backends/cpu/kernels/quantization.h"
#include "backends/cpu/kernels/vector_targets.h"

namespace tensord {
namespace {

#define TENSORD_QUANTIZE(Y, value)                                  \
  static_cast<Y>(QuantizeTo(value, zero_point,                      \
                            int32_t{std::numeric_limits<Y>::min()}, \
                            int32_t{std::numeric_limits<Y>::max()}))

namespace any_machine {
#include "backends/cpu/kernels/vector_integers_loops.inc"
}  // namespace any_machine
#if TENSORD_HAVE_VECTOR_TARGETS
TENSORD_BEGIN_AVX2
namespace avx2 {
#include "backends/cpu/kernels/vector_integers_loops.inc"
}  // namespace avx2
TENSORD_END_TARGET
TENSORD_BEGIN_AVX512
namespace avx512 {
#include "backends/cpu/kernels/vector_integers_loops.inc"
}  // namespace avx512
TENSORD_END_TARGET
#endif

}  // namespace

const IntegerLoops& TheIntegerLoops() {
  return *TENSORD_FOR_THIS_MACHINE(kLoops);
}

}  // namespace tensord
