#ifndef TENSORD_TESTS_SUPPORT_HALF_H_
#define TENSORD_TESTS_SUPPORT_HALF_H_

#include <cstdint>

namespace tensord {

// The 16-bit floating types for tests, written for being seen to be right: the
// kernels' own conversions are what is under test. Rounds to nearest even;
// too large becomes infinity, NaN stays NaN. Pure functions.
double DecodeFloat16(uint16_t bits);
uint16_t EncodeFloat16(double value);
double DecodeBFloat16(uint16_t bits);
uint16_t EncodeBFloat16(double value);

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_HALF_H_
