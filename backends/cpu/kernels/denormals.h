#ifndef TENSORD_BACKENDS_CPU_KERNELS_DENORMALS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_DENORMALS_H_

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tensord {

// While it lives, float32 arithmetic of this thread takes denormal numbers, and
// results that would be ones, for 0.
//
// For sums of products alone. Weights decay to denormals in training, and many
// processors take a hundred times as long for a product with one; beside the
// other terms of a sum it is nothing: an operand of 1e-38 weighs less than
// 1e-8 where the other one is below 1e30.
class DenormalsAreZero {
 public:
  DenormalsAreZero() {
#if defined(__x86_64__)
    before_ = _mm_getcsr();
    _mm_setcsr(before_ | kFlushResults | kFlushOperands);
#endif
  }
  ~DenormalsAreZero() {
#if defined(__x86_64__)
    _mm_setcsr(before_);
#endif
  }
  DenormalsAreZero(const DenormalsAreZero&) = delete;
  DenormalsAreZero& operator=(const DenormalsAreZero&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr unsigned kFlushResults = 0x8000;
  static constexpr unsigned kFlushOperands = 0x0040;
  unsigned before_;
#endif
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_DENORMALS_H_
