#include "tests/support/tensor.h"

#include <cstdio>
#include <cstdlib>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "tests/support/half.h"

namespace tensord {
namespace {

[[noreturn]] void Die(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
}

// Calls fn(T{}) with the C++ type that holds an element of `dtype`; the 16-bit
// floating types are left to the caller.
template <typename Fn>
auto WithType(DType dtype, Fn fn) {
  switch (dtype) {
    case DType::kFloat32:
      return fn(float{});
    case DType::kFloat64:
      return fn(double{});
    case DType::kInt8:
      return fn(int8_t{});
    case DType::kInt16:
      return fn(int16_t{});
    case DType::kInt32:
      return fn(int32_t{});
    case DType::kInt64:
      return fn(int64_t{});
    case DType::kUInt8:
    case DType::kBool:
      return fn(uint8_t{});
    case DType::kUInt16:
      return fn(uint16_t{});
    case DType::kUInt32:
      return fn(uint32_t{});
    case DType::kUInt64:
      return fn(uint64_t{});
    default:
      Die(absl::StrCat("dtype ", DTypeName(dtype), " has no test values"));
  }
}

bool IsFloating(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 ||
         dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

void Store(DType dtype, double value, std::byte* element) {
  const auto store16 = [element](uint16_t bits) {
    std::memcpy(element, &bits, sizeof(bits));
  };
  if (dtype == DType::kFloat16) return store16(EncodeFloat16(value));
  if (dtype == DType::kBFloat16) return store16(EncodeBFloat16(value));
  if (dtype == DType::kBool) value = value != 0;
  WithType(dtype, [&](auto typed) {
    typed = static_cast<decltype(typed)>(value);
    std::memcpy(element, &typed, sizeof(typed));
  });
}

}  // namespace

double TestTensor::At(int64_t i) const {
  const std::byte* element = bytes.data() + i * BitWidth(dtype) / 8;
  uint16_t bits;
  if (dtype == DType::kFloat16 || dtype == DType::kBFloat16) {
    std::memcpy(&bits, element, sizeof(bits));
    return dtype == DType::kFloat16 ? DecodeFloat16(bits)
                                    : DecodeBFloat16(bits);
  }
  return WithType(dtype, [element](auto typed) {
    std::memcpy(&typed, element, sizeof(typed));
    return static_cast<double>(typed);
  });
}

void PrintTo(const TestTensor& tensor, std::ostream* out) {
  constexpr int64_t kShown = 32;
  *out << DTypeName(tensor.dtype) << " " << tensor.shape.ToString() << " {";
  const int64_t count = tensor.is_present() ? tensor.shape.element_count() : 0;
  for (int64_t i = 0; i < count && i < kShown; ++i) {
    *out << (i == 0 ? "" : ", ") << tensor.At(i);
  }
  *out << (count > kShown ? ", ...}" : "}");
}

TestTensor TensorOfBytes(DType dtype, Shape shape, const void* data,
                         size_t size_bytes) {
  if (size_bytes != ByteSize(dtype, shape.element_count())) {
    Die(absl::StrCat(size_bytes, " bytes of values for ", DTypeName(dtype), " ",
                     shape.ToString()));
  }
  TestTensor tensor{dtype, std::move(shape), {}};
  tensor.bytes.resize(size_bytes);
  if (size_bytes != 0) std::memcpy(tensor.bytes.data(), data, size_bytes);
  return tensor;
}

TestTensor TensorOf(DType dtype, Shape shape,
                    const std::vector<double>& values) {
  const int element_bytes = BitWidth(dtype) / 8;
  std::vector<std::byte> bytes(values.size() * element_bytes);
  for (size_t i = 0; i < values.size(); ++i) {
    Store(dtype, values[i], bytes.data() + i * element_bytes);
  }
  return TensorOfBytes(dtype, std::move(shape), bytes.data(), bytes.size());
}

TestTensor Pattern(DType dtype, Shape shape, uint64_t seed) {
  std::vector<double> values(shape.element_count());
  // splitmix64: each step is a full mix, so neighbouring seeds do not
  // correlate.
  uint64_t state = seed * 0x9e3779b97f4a7c15;
  for (double& value : values) {
    state += 0x9e3779b97f4a7c15;
    uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    mixed ^= mixed >> 31;
    if (IsFloating(dtype)) {
      value = (static_cast<int64_t>(mixed % 256) - 128) / 64.0;
    } else if (dtype == DType::kBool) {
      value = mixed % 2;
    } else {
      value = mixed % 100;  // in range for every integer type
    }
  }
  return TensorOf(dtype, std::move(shape), values);
}

}  // namespace tensord
