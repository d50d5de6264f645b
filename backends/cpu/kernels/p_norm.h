#ifndef TENSORD_BACKENDS_CPU_KERNELS_P_NORM_H_
#define TENSORD_BACKENDS_CPU_KERNELS_P_NORM_H_

#include <cmath>
#include <cstdint>

// The parts of a p-norm, (sum of |x|^p)^(1/p): exact where p is 1 or 2 but for
// the arithmetic itself.
namespace tensord {

template <typename C>
C PowerOf(C magnitude, int64_t p) {
  if (p == 1) return magnitude;
  if (p == 2) return magnitude * magnitude;
  return std::pow(magnitude, static_cast<C>(p));
}

template <typename C>
C RootOf(C sum, int64_t p) {
  if (p == 1) return sum;
  if (p == 2) return std::sqrt(sum);
  return std::pow(sum, 1 / static_cast<C>(p));
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_P_NORM_H_
