#include "tools/tensordctl/elements.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "tools/tensordctl/type_text.h"

namespace tensord::ctl {

Float16::Float16(float value) {
  const uint32_t in = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((in >> 16) & 0x8000);
  const float magnitude = std::abs(value);
  if (std::isnan(value)) {
    bits = sign | 0x7e00;
  } else if (magnitude >= 65520.f) {
    // Halfway between the largest half, 65504, and the next power of two.
    bits = sign | 0x7c00;
  } else if (magnitude < 0x1p-14f) {
    // Subnormal: steps of 2^-24. nearbyint() rounds ties to even.
    bits = sign | static_cast<uint16_t>(std::nearbyint(magnitude * 0x1p24f));
  } else {
    // Drop 13 bits of mantissa, rounding; a carry into the exponent is right.
    const uint32_t unsigned_bits = in & 0x7fffffff;
    const uint32_t odd = (unsigned_bits >> 13) & 1;
    const uint32_t rounded = unsigned_bits + 0xfff + odd;
    bits = sign | static_cast<uint16_t>((rounded >> 13) - ((127 - 15) << 10));
  }
}

Float16::operator float() const {
  const int exponent = (bits >> 10) & 0x1f;
  const int mantissa = bits & 0x3ff;
  float magnitude;
  if (exponent == 0x1f) {
    magnitude = mantissa == 0 ? std::numeric_limits<float>::infinity()
                              : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(mantissa), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(mantissa | 0x400), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

BFloat16::BFloat16(float value) {
  const uint32_t in = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) {
    bits = static_cast<uint16_t>((in >> 16) | 0x40);
  } else {
    bits = static_cast<uint16_t>((in + 0x7fff + ((in >> 16) & 1)) >> 16);
  }
}

BFloat16::operator float() const {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

int ElementBits(v1::DType dtype) {
  switch (dtype) {
    case v1::DTYPE_COMPLEX128:
      return 128;
    case v1::DTYPE_FLOAT64:
    case v1::DTYPE_INT64:
    case v1::DTYPE_UINT64:
    case v1::DTYPE_COMPLEX64:
      return 64;
    case v1::DTYPE_FLOAT32:
    case v1::DTYPE_INT32:
    case v1::DTYPE_UINT32:
      return 32;
    case v1::DTYPE_FLOAT16:
    case v1::DTYPE_BFLOAT16:
    case v1::DTYPE_INT16:
    case v1::DTYPE_UINT16:
      return 16;
    case v1::DTYPE_INT8:
    case v1::DTYPE_UINT8:
    case v1::DTYPE_BOOL:
    case v1::DTYPE_FLOAT8E4M3FN:
    case v1::DTYPE_FLOAT8E4M3FNUZ:
    case v1::DTYPE_FLOAT8E5M2:
    case v1::DTYPE_FLOAT8E5M2FNUZ:
    case v1::DTYPE_FLOAT8E8M0:
      return 8;
    case v1::DTYPE_UINT4:
    case v1::DTYPE_INT4:
    case v1::DTYPE_FLOAT4E2M1:
      return 4;
    case v1::DTYPE_UINT2:
    case v1::DTYPE_INT2:
      return 2;
    default:
      return 0;
  }
}

absl::StatusOr<int64_t> ElementCount(absl::Span<const int64_t> dims) {
  int64_t count = 1;
  bool is_empty = false;
  for (int64_t dim : dims) {
    if (dim < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the shape ", DimsText(dims), " has a negative extent"));
    }
    is_empty = is_empty || dim == 0;
  }
  if (is_empty) return 0;
  for (int64_t dim : dims) {
    if (__builtin_mul_overflow(count, dim, &count)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the shape ", DimsText(dims),
                       " has more elements than 63 bits can count"));
    }
  }
  return count;
}

absl::StatusOr<int64_t> DataBytes(v1::DType dtype,
                                  absl::Span<const int64_t> dims) {
  const int bits = ElementBits(dtype);
  if (bits == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(DTypeText(dtype), " has no elements of a fixed size"));
  }
  const auto count = ElementCount(dims);
  if (!count.ok()) return count.status();
  int64_t all_bits;
  if (__builtin_mul_overflow(*count, int64_t{bits}, &all_bits) ||
      all_bits > std::numeric_limits<int64_t>::max() - 7) {
    return absl::InvalidArgumentError(
        absl::StrCat(DTypeText(dtype), DimsText(dims), " is above 2^60 bytes"));
  }
  return (all_bits + 7) / 8;
}

absl::StatusOr<std::vector<double>> AsDoubles(const v1::Tensor& tensor) {
  std::vector<double> values;
  const bool is_known = VisitDType(tensor.dtype(), [&]<typename T>(T) {
    for (T element : Elements<T>(tensor)) values.push_back(AsDouble(element));
  });
  if (!is_known) {
    return absl::UnimplementedError(absl::StrCat(
        "elements of ", DTypeText(tensor.dtype()), " cannot be shown here"));
  }
  return values;
}

}  // namespace tensord::ctl
