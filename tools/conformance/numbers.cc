#include "tools/conformance/numbers.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "tools/tensordctl/elements.h"
#include "tools/tensordctl/type_text.h"

namespace tensord::conformance {
namespace {

static_assert(std::numeric_limits<Number>::digits >= 64);

constexpr Number kNaN = std::numeric_limits<Number>::quiet_NaN();
constexpr Number kInfinity = std::numeric_limits<Number>::infinity();

// A small float: a sign bit, then `exponent_bits`, then `mantissa_bits`. Its
// value, where the code is no special one of its format:
//   subnormal  mantissa * 2^(1 - bias - mantissa_bits)
//   normal     (2^mantissa_bits + mantissa) * 2^(exponent - bias - ...)
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  // 80 hexadecimal, which would be -0, is the only NaN; there is no infinity.
  bool is_fnuz;
};

constexpr SmallFloat kE4M3FN = {4, 3, 7, false};
constexpr SmallFloat kE4M3FNUZ = {4, 3, 8, true};
constexpr SmallFloat kE5M2 = {5, 2, 15, false};
constexpr SmallFloat kE5M2FNUZ = {5, 2, 16, true};
constexpr SmallFloat kE2M1 = {2, 1, 1, false};

Number Decode(const SmallFloat& format, uint8_t code) {
  const int magnitude_bits = format.exponent_bits + format.mantissa_bits;
  const bool is_negative = (code >> magnitude_bits) & 1;
  const int magnitude = code & ((1 << magnitude_bits) - 1);
  if (format.is_fnuz && is_negative && magnitude == 0) return kNaN;
  const int exponent = magnitude >> format.mantissa_bits;
  const int mantissa = magnitude & ((1 << format.mantissa_bits) - 1);
  const Number value =
      exponent == 0
          ? std::ldexp(Number(mantissa), 1 - format.bias - format.mantissa_bits)
          : std::ldexp(Number((1 << format.mantissa_bits) + mantissa),
                       exponent - format.bias - format.mantissa_bits);
  return is_negative ? -value : value;
}

Number DecodeByte(v1::DType dtype, uint8_t code) {
  switch (dtype) {
    case v1::DTYPE_FLOAT8E4M3FN:
      return (code & 0x7f) == 0x7f ? kNaN : Decode(kE4M3FN, code);
    case v1::DTYPE_FLOAT8E4M3FNUZ:
      return Decode(kE4M3FNUZ, code);
    case v1::DTYPE_FLOAT8E5M2:
      if ((code & 0x7f) == 0x7c) return code & 0x80 ? -kInfinity : kInfinity;
      return (code & 0x7f) > 0x7c ? kNaN : Decode(kE5M2, code);
    case v1::DTYPE_FLOAT8E5M2FNUZ:
      return Decode(kE5M2FNUZ, code);
    default:  // DTYPE_FLOAT8E8M0
      return code == 0xff ? kNaN : std::ldexp(Number{1}, code - 127);
  }
}

Number DecodePart(v1::DType dtype, uint8_t code) {
  switch (dtype) {
    case v1::DTYPE_FLOAT4E2M1:
      return Decode(kE2M1, code);
    case v1::DTYPE_INT4:
      return code >= 8 ? code - 16 : code;
    case v1::DTYPE_INT2:
      return code >= 2 ? code - 4 : code;
    default:  // DTYPE_UINT4, DTYPE_UINT2
      return code;
  }
}

template <typename T>
void AppendAll(absl::string_view data, std::vector<Number>& numbers) {
  for (size_t i = 0; i + sizeof(T) <= data.size(); i += sizeof(T)) {
    T element;
    std::memcpy(&element, data.data() + i, sizeof(T));
    if constexpr (std::is_same_v<T, ctl::Bool>) {
      numbers.push_back(element.value);
    } else if constexpr (std::is_class_v<T>) {
      numbers.push_back(static_cast<float>(element));
    } else {
      numbers.push_back(static_cast<Number>(element));
    }
  }
}

bool IsPartOfByte(v1::DType dtype) { return ctl::ElementBits(dtype) < 8; }

void AppendParts(v1::DType dtype, absl::string_view data, int64_t count,
                 std::vector<Number>& numbers) {
  const int bits = ctl::ElementBits(dtype);
  const int per_byte = 8 / bits;
  for (int64_t i = 0; i < count; ++i) {
    const int shift = static_cast<int>(i % per_byte) * bits;
    const uint8_t byte = static_cast<uint8_t>(data[i / per_byte]);
    numbers.push_back(DecodePart(dtype, (byte >> shift) & ((1 << bits) - 1)));
  }
}

}  // namespace

absl::StatusOr<std::vector<Number>> Numbers(const v1::Tensor& tensor) {
  const v1::DType dtype = tensor.dtype();
  if (dtype == v1::DTYPE_STRING || dtype == v1::DTYPE_UNSPECIFIED) {
    return absl::InvalidArgumentError(
        absl::StrCat(ctl::TypeText(tensor), " holds no numbers"));
  }
  const auto bytes = ctl::DataBytes(dtype, tensor.dims());
  if (!bytes.ok()) return bytes.status();
  if (*bytes != static_cast<int64_t>(tensor.data().size())) {
    return absl::InvalidArgumentError(absl::StrCat(
        ctl::TypeText(tensor), " of ", tensor.data().size(), " bytes"));
  }
  std::vector<Number> numbers;
  if (IsPartOfByte(dtype)) {
    AppendParts(dtype, tensor.data(), *ctl::ElementCount(tensor.dims()),
                numbers);
  } else if (dtype == v1::DTYPE_COMPLEX64) {
    AppendAll<float>(tensor.data(), numbers);
  } else if (dtype == v1::DTYPE_COMPLEX128) {
    AppendAll<double>(tensor.data(), numbers);
  } else if (!ctl::VisitDType(dtype, [&](auto element) {
               AppendAll<decltype(element)>(tensor.data(), numbers);
             })) {
    for (const char code : tensor.data()) {
      numbers.push_back(DecodeByte(dtype, static_cast<uint8_t>(code)));
    }
  }
  return numbers;
}

absl::StatusOr<std::vector<std::string>> Strings(const v1::Tensor& tensor) {
  const auto count = ctl::ElementCount(tensor.dims());
  if (!count.ok()) return count.status();
  std::vector<std::string> strings;
  absl::string_view rest = tensor.data();
  while (tensor.dtype() == v1::DTYPE_STRING && rest.size() >= 4) {
    uint32_t size;
    std::memcpy(&size, rest.data(), 4);
    rest.remove_prefix(4);
    if (size > rest.size()) break;
    strings.emplace_back(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  if (tensor.dtype() != v1::DTYPE_STRING || !rest.empty() ||
      static_cast<int64_t>(strings.size()) != *count) {
    return absl::InvalidArgumentError(
        absl::StrCat(ctl::TypeText(tensor), " of ", tensor.data().size(),
                     " bytes holds no such strings"));
  }
  return strings;
}

bool IsInteger(v1::DType dtype) {
  switch (dtype) {
    case v1::DTYPE_UINT8:
    case v1::DTYPE_INT8:
    case v1::DTYPE_UINT16:
    case v1::DTYPE_INT16:
    case v1::DTYPE_INT32:
    case v1::DTYPE_INT64:
    case v1::DTYPE_UINT32:
    case v1::DTYPE_UINT64:
    case v1::DTYPE_BOOL:
    case v1::DTYPE_UINT4:
    case v1::DTYPE_INT4:
    case v1::DTYPE_UINT2:
    case v1::DTYPE_INT2:
      return true;
    default:
      return false;
  }
}

Range FiniteRange(v1::DType dtype) {
  switch (dtype) {
    case v1::DTYPE_BOOL:
      return {0, 1};
    case v1::DTYPE_FLOAT64:
    case v1::DTYPE_COMPLEX128:
      return {std::numeric_limits<double>::lowest(),
              std::numeric_limits<double>::max()};
    case v1::DTYPE_FLOAT16:
      return {-65504, 65504};
    case v1::DTYPE_BFLOAT16:
      return {-0x1.fep127L, 0x1.fep127L};
    case v1::DTYPE_FLOAT8E4M3FN:
      return {-448, 448};
    case v1::DTYPE_FLOAT8E4M3FNUZ:
      return {-240, 240};
    case v1::DTYPE_FLOAT8E5M2:
    case v1::DTYPE_FLOAT8E5M2FNUZ:
      return {-57344, 57344};
    case v1::DTYPE_FLOAT8E8M0:
      return {0x1p-127L, 0x1p127L};
    case v1::DTYPE_FLOAT4E2M1:
      return {-6, 6};
    case v1::DTYPE_UINT8:
    case v1::DTYPE_UINT16:
    case v1::DTYPE_UINT32:
    case v1::DTYPE_UINT64:
    case v1::DTYPE_UINT4:
    case v1::DTYPE_UINT2:
      return {0, std::ldexp(Number{1}, ctl::ElementBits(dtype)) - 1};
    case v1::DTYPE_INT8:
    case v1::DTYPE_INT16:
    case v1::DTYPE_INT32:
    case v1::DTYPE_INT64:
    case v1::DTYPE_INT4:
    case v1::DTYPE_INT2: {
      const Number half = std::ldexp(Number{1}, ctl::ElementBits(dtype) - 1);
      return {-half, half - 1};
    }
    default:
      return {std::numeric_limits<float>::lowest(),
              std::numeric_limits<float>::max()};
  }
}

std::string NumberText(v1::DType dtype, Number number) {
  if (IsInteger(dtype)) return absl::StrFormat("%.0f", number);
  const bool is_double =
      dtype == v1::DTYPE_FLOAT64 || dtype == v1::DTYPE_COMPLEX128;
  return absl::StrFormat("%.*g", is_double ? 17 : 9, number);
}

}  // namespace tensord::conformance
