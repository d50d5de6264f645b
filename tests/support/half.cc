#include "tests/support/half.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tensord {
namespace {

// An IEEE-like format of 16 bits: sign, exponent, mantissa.
struct Format {
  int exponent_bits;
  int mantissa_bits;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int max_exponent() const { return (1 << exponent_bits) - 1; }
};

constexpr Format kFloat16{5, 10};
constexpr Format kBFloat16{8, 7};

double Decode(Format format, uint16_t bits) {
  const double sign = (bits >> 15) != 0 ? -1.0 : 1.0;
  const int exponent = (bits >> format.mantissa_bits) & format.max_exponent();
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  if (exponent == format.max_exponent()) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  // Subnormals have no leading 1 and the exponent of the smallest normals.
  const int leading = exponent == 0 ? 0 : 1 << format.mantissa_bits;
  const int power = (exponent == 0 ? 1 : exponent) - format.bias();
  return sign * std::ldexp(leading + mantissa, power - format.mantissa_bits);
}

uint16_t Encode(Format format, double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const uint16_t infinity = format.max_exponent() << format.mantissa_bits;
  if (std::isnan(value)) {
    return sign | infinity | (1 << (format.mantissa_bits - 1));
  }
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | infinity;
  const int power = std::max(std::ilogb(magnitude), 1 - format.bias());
  // In units of the last place; nearbyint rounds to nearest even.
  const double units =
      std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - power));
  // Rounding up to the next power of two carries into the exponent by itself.
  const double bits =
      std::ldexp(power + format.bias() - 1, format.mantissa_bits) + units;
  return sign | (bits >= infinity ? infinity : static_cast<uint16_t>(bits));
}

}  // namespace

double DecodeFloat16(uint16_t bits) { return Decode(kFloat16, bits); }
uint16_t EncodeFloat16(double value) { return Encode(kFloat16, value); }
double DecodeBFloat16(uint16_t bits) { return Decode(kBFloat16, bits); }
uint16_t EncodeBFloat16(double value) { return Encode(kBFloat16, value); }

}  // namespace tensord
