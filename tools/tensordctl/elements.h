#ifndef TENSORD_TOOLS_TENSORDCTL_ELEMENTS_H_
#define TENSORD_TOOLS_TENSORDCTL_ELEMENTS_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tensord/v1/types.pb.h"

// A tensor's bytes as numbers.
namespace tensord::ctl {

static_assert(std::endian::native == std::endian::little,
              "tensors are little-endian on the wire and in .npy files");

// IEEE 754 half precision, as bits.
struct Float16 {
  uint16_t bits = 0;

  Float16() = default;
  // Rounds to nearest, ties to even.
  explicit Float16(float value);
  explicit operator float() const;
};

// The upper half of a float32, as bits.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  // Rounds to nearest, ties to even.
  explicit BFloat16(float value);
  explicit operator float() const;
};

// One byte, 0 or 1.
struct Bool {
  uint8_t value = 0;
};

// Bits of one element; 0 for strings and for what is no dtype.
int ElementBits(v1::DType dtype);

// The product of the extents. kInvalidArgument with the extents when one is
// negative or the product does not fit 63 bits.
absl::StatusOr<int64_t> ElementCount(absl::Span<const int64_t> dims);

// Bytes of a tensor's data. kInvalidArgument as ElementCount(), and for
// strings, whose data tell their size themselves.
absl::StatusOr<int64_t> DataBytes(v1::DType dtype,
                                  absl::Span<const int64_t> dims);

// Calls f(T{}) with the C++ type of a dtype, and returns true; false for
// dtypes that no C++ type here stands for (strings, complex, 8 bits floating,
// less than 8 bits).
template <typename F>
bool VisitDType(v1::DType dtype, F f) {
  switch (dtype) {
    case v1::DTYPE_FLOAT32:
      return f(float{}), true;
    case v1::DTYPE_FLOAT64:
      return f(double{}), true;
    case v1::DTYPE_FLOAT16:
      return f(Float16{}), true;
    case v1::DTYPE_BFLOAT16:
      return f(BFloat16{}), true;
    case v1::DTYPE_INT8:
      return f(int8_t{}), true;
    case v1::DTYPE_INT16:
      return f(int16_t{}), true;
    case v1::DTYPE_INT32:
      return f(int32_t{}), true;
    case v1::DTYPE_INT64:
      return f(int64_t{}), true;
    case v1::DTYPE_UINT8:
      return f(uint8_t{}), true;
    case v1::DTYPE_UINT16:
      return f(uint16_t{}), true;
    case v1::DTYPE_UINT32:
      return f(uint32_t{}), true;
    case v1::DTYPE_UINT64:
      return f(uint64_t{}), true;
    case v1::DTYPE_BOOL:
      return f(Bool{}), true;
    default:
      return false;
  }
}

// The elements; a rest of the data that is no whole element is left out.
template <typename T>
std::vector<T> Elements(const v1::Tensor& tensor) {
  std::vector<T> elements(tensor.data().size() / sizeof(T));
  if (!elements.empty()) {
    std::memcpy(elements.data(), tensor.data().data(),
                elements.size() * sizeof(T));
  }
  return elements;
}

// Any element as a double; exact but for 64-bit integers above 2^53.
template <typename T>
double AsDouble(T element) {
  if constexpr (std::is_same_v<T, Bool>) {
    return element.value;
  } else if constexpr (std::is_class_v<T>) {
    return static_cast<float>(element);
  } else {
    return static_cast<double>(element);
  }
}

// All elements as doubles. kUnimplemented for dtypes that VisitDType() does not
// have.
absl::StatusOr<std::vector<double>> AsDoubles(const v1::Tensor& tensor);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_ELEMENTS_H_
