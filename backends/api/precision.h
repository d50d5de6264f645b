#ifndef TENSORD_BACKENDS_API_PRECISION_H_
#define TENSORD_BACKENDS_API_PRECISION_H_

#include <cstdint>

namespace tensord {

// How far products of float32 operands may fall short of float32 arithmetic:
// what a client allows, not what a kernel must do. Sums stay float32.
enum class Precision : uint8_t {
  kStrict,     // float32 arithmetic, 24 bits of significand
  kAllowTf32,  // factors may be rounded to 11 bits of significand
  kAllowBf16,  // to 8 bits; whatever kAllowTf32 allows is allowed as well
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_PRECISION_H_
