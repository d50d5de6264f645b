#include "engine/tune/result_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"

namespace tensord {
namespace {

template <typename T>
double ValueAt(absl::Span<const std::byte> bytes, size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  if constexpr (std::is_integral_v<T> || std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<float>(value);
  }
}

bool IsNear(double actual, double expected, double relative, double absolute) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (actual == expected) return true;
  return std::abs(actual - expected) <=
         absolute + relative * std::abs(expected);  // false for infinities
}

template <typename T>
absl::Status Check(absl::Span<const std::byte> actual,
                   absl::Span<const std::byte> expected, Tolerance tolerance) {
  const size_t count = expected.size() / sizeof(T);
  double magnitude = 0;
  for (size_t i = 0; i < count; ++i) {
    const double value = std::abs(ValueAt<T>(expected, i));
    if (std::isfinite(value)) magnitude = std::max(magnitude, value);
  }
  // An integer's step is 1, whatever its magnitude.
  const double unit = std::is_integral_v<T> ? 1 : magnitude;
  for (size_t i = 0; i < count; ++i) {
    const double a = ValueAt<T>(actual, i);
    const double e = ValueAt<T>(expected, i);
    if (std::isinf(e)
            ? a == e
            : IsNear(a, e, tolerance.relative, tolerance.absolute * unit)) {
      continue;
    }
    return absl::OutOfRangeError(
        absl::StrCat("element ", i, " is ", a, " and not ", e));
  }
  return absl::OkStatus();
}

absl::Status CheckBits(absl::Span<const std::byte> actual,
                       absl::Span<const std::byte> expected) {
  const auto [a, e] = std::mismatch(actual.begin(), actual.end(),
                                    expected.begin(), expected.end());
  if (a == actual.end() && e == expected.end()) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrCat("byte ", a - actual.begin(), " differs"));
}

}  // namespace

absl::Status CheckResult(DType dtype, absl::Span<const std::byte> actual,
                         absl::Span<const std::byte> expected,
                         Tolerance tolerance) {
  if (tolerance.relative == 0 && tolerance.absolute == 0) {
    return CheckBits(actual, expected);
  }
  switch (dtype) {
    case DType::kFloat32:
      return Check<float>(actual, expected, tolerance);
    case DType::kFloat64:
      return Check<double>(actual, expected, tolerance);
    case DType::kFloat16:
      return Check<Float16>(actual, expected, tolerance);
    case DType::kBFloat16:
      return Check<BFloat16>(actual, expected, tolerance);
    case DType::kInt8:
      return Check<int8_t>(actual, expected, tolerance);
    case DType::kUInt8:
      return Check<uint8_t>(actual, expected, tolerance);
    default:
      return CheckBits(actual, expected);
  }
}

}  // namespace tensord
