// Acos Acosh Asin Asinh Atan Atanh Cos Cosh Sin Sinh Tan Tanh.
//
//   y[i] = f(x[i]), angles in radians
//
// NaN where f is not defined: outside [-1, 1] for Acos, Asin and Atanh, below 1
// for Acosh, at infinities for Cos, Sin and Tan.
//
// x and y are contiguous, have the same shape, and may be the same buffer.
// Computes in the elements' own type; 16-bit floats in float32.

#include <cmath>

#include "backends/cpu/kernels/element_map.h"
#include "backends/cpu/kernels/instantiate.h"

namespace tensord {

#define TENSORD_MAP_BY(Run, function)                               \
  template <typename T>                                             \
  absl::Status Run(const KernelCall& call) {                        \
    return MapElements<T>(call, kCostlyGrain,                       \
                          [](auto x) { return std::function(x); }); \
  }                                                                 \
  TENSORD_INSTANTIATE_FLOATS(Run)

TENSORD_MAP_BY(RunAcos, acos);
TENSORD_MAP_BY(RunAcosh, acosh);
TENSORD_MAP_BY(RunAsin, asin);
TENSORD_MAP_BY(RunAsinh, asinh);
TENSORD_MAP_BY(RunAtan, atan);
TENSORD_MAP_BY(RunAtanh, atanh);
TENSORD_MAP_BY(RunCos, cos);
TENSORD_MAP_BY(RunCosh, cosh);
TENSORD_MAP_BY(RunSin, sin);
TENSORD_MAP_BY(RunSinh, sinh);
TENSORD_MAP_BY(RunTan, tan);
TENSORD_MAP_BY(RunTanh, tanh);

#undef TENSORD_MAP_BY

}  // namespace tensord
