// IsInf, IsNaN.
//
//   y[i] = whether x[i] is an infinity (of a sign that the parameters ask for),
//          or a NaN
//
// x is contiguous; y is bool, of the same shape, and another buffer. 8-bit
// floats are judged by their codes.

#include <cmath>
#include <cstdint>

#include "backends/cpu/kernels/element_map.h"
#include "backends/cpu/kernels/instantiate.h"

namespace tensord {
namespace {

constexpr int kMagnitudeBits = 0x7f;

// Only E5M2 has infinities, where IEEE 754 would have them.
template <DType kFloat8>
bool IsInfCode(uint8_t code) {
  return kFloat8 == DType::kFloat8E5M2 && (code & kMagnitudeBits) == 0x7c;
}

template <DType kFloat8>
bool IsNaNCode(uint8_t code) {
  const int magnitude = code & kMagnitudeBits;
  if (kFloat8 == DType::kFloat8E5M2) return magnitude > 0x7c;
  if (kFloat8 == DType::kFloat8E4M3FN) return magnitude == 0x7f;
  return code == 0x80;  // the "uz" types have no -0, whose code it would be
}

}  // namespace

template <typename T>
absl::Status RunIsInf(const KernelCall& call) {
  const auto& params = std::get<IsInfParams>(call.params);
  const bool negative = params.detects_negative;
  const bool positive = params.detects_positive;
  return MapElements<T, bool>(call, kCheapGrain, [negative, positive](auto x) {
    return std::isinf(x) && (std::signbit(x) ? negative : positive);
  });
}

template <typename T>
absl::Status RunIsNaN(const KernelCall& call) {
  return MapElements<T, bool>(call, kCheapGrain,
                              [](auto x) { return std::isnan(x); });
}

template <DType kFloat8>
absl::Status RunIsInfFloat8(const KernelCall& call) {
  const auto& params = std::get<IsInfParams>(call.params);
  const bool negative = params.detects_negative;
  const bool positive = params.detects_positive;
  return MapElements<uint8_t, bool>(
      call, kCheapGrain, [negative, positive](uint8_t code) {
        return IsInfCode<kFloat8>(code) &&
               (code > kMagnitudeBits ? negative : positive);
      });
}

template <DType kFloat8>
absl::Status RunIsNaNFloat8(const KernelCall& call) {
  return MapElements<uint8_t, bool>(call, kCheapGrain, &IsNaNCode<kFloat8>);
}

#define TENSORD_INSTANTIATE_FLOAT8(Run)             \
  TENSORD_INSTANTIATE(Run, DType::kFloat8E4M3FN);   \
  TENSORD_INSTANTIATE(Run, DType::kFloat8E4M3FNUZ); \
  TENSORD_INSTANTIATE(Run, DType::kFloat8E5M2);     \
  TENSORD_INSTANTIATE(Run, DType::kFloat8E5M2FNUZ)

TENSORD_INSTANTIATE_FLOATS(RunIsInf);
TENSORD_INSTANTIATE_FLOAT8(RunIsInfFloat8);
TENSORD_INSTANTIATE_FLOATS(RunIsNaN);
TENSORD_INSTANTIATE_FLOAT8(RunIsNaNFloat8);

}  // namespace tensord
